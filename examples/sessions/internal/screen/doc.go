// Package screen writes for people: tables that fit the terminal, colour where
// there is one, progress of long work, and questions. Where standard output is
// no terminal, tables are lines of tab-separated cells, whole and without
// titles, for other programs.
//
// Text that comes from sessions must pass [Plain] or [Lines] before it is
// written: it may hold what a terminal obeys. Tables do that themselves.
package screen
