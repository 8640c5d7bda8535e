// Package keyword looks for a text in the rows of a transcript, as the reference's
// session finder does: in each row as Python's json module writes it without escapes for
// characters beyond ASCII, both in lower case. So names of members and punctuation count,
// and a line break inside a value is an escape.
//
// To write every row anew would be slow. A [Reader] therefore cuts the file into blocks
// of whole lines. A filter finds the few lines of a block that may hold the keyword, from
// their raw bytes. Only those lines are parsed and written anew, and only the rewritten
// text decides.
//
// The raw bytes are scanned many at once: for two bytes at a distance ([Pair]), and for
// bytes that are not UTF-8 ([ValidUTF8]).
package keyword
