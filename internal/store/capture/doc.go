// Package capture reads the rows of a log of events as the newest tools read the logs of
// context-intelligence: by LF alone, each row by itself, with a code for each fault of a
// row. It is pure: it opens no file, and holds one row in memory.
package capture
