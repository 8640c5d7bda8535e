// Package capture reads the rows of a log of events as the newest tools read
// those of context-intelligence: by LF alone, each row by itself, and what is
// wrong with a row is told by a code. It is pure: it opens no file, and holds
// one row in memory.
package capture
