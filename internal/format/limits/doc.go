// Package limits bounds the size of files and lines that are read into memory as a whole,
// and the length of names in errors.
//
// A program of 32 bits has at most 4 GB of addresses: a file that does not fit
// would end it ("makeslice: len out of range", "out of memory"), and nothing can
// recover from that. So everything that reads a whole file, or a whole line,
// calls [Check] first.
package limits
