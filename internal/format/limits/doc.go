// Package limits bounds what is read into memory as a whole, and what of a name an
// error shows.
//
// A program of 32 bits has at most 4 GB of addresses: a file that does not fit
// would end it ("makeslice: len out of range", "out of memory"), and nothing can
// recover from that. So everything that reads a whole file, or a whole line,
// calls [Check] first.
package limits
