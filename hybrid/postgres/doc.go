// Package postgres implements a [remote.Remote] as a table of a PostgreSQL database, of
// version 13 or later. It is a module of its own, so that only programs that import it
// have the driver.
//
// [Provision] makes the table, or the file schema.sql does, for people who may not make
// one. [Connect] opens it. The right to read the table is enough to fetch sessions.
//
// # Statements
//
// Each call is one statement, and a page of a list is one. An object that replaces another
// one and the objects that come with it are stored by one statement, all or none. A
// statement is sent once, without a prepared name and without a session's settings, so
// a connection may go through PgBouncer in its transaction mode. A statement whose answer
// is lost is not sent again. Commits and removals are durable also where the role or the
// database says synchronous_commit = off.
//
// # Time
//
// A row has the time at which it was stored, but it shows when its transaction ends, perhaps
// later than rows of a later time. So the list of what is new does not begin at the time of
// the newest row, but at the time that [Remote.Info] calls Complete: the time at which the
// statement's transaction began if no other transaction was under way, and otherwise the
// beginning of the newest transaction among those before the oldest that is under way.
// A row that shows later was stored later than that. A long transaction of another
// program in the same server thus costs only that objects are listed twice. A list takes a
// transaction number for that.
//
// # Answers
//
// Each SQLSTATE becomes one of the errors of package remote:
//
//	ErrUnauthorized 42501: the role lacks a right
//	ErrBlocked      28xxx, 3Dxxx, 3Fxxx, 42P01, 53100: a role, a password, a database or the table is missing, or the disk is full
//	Throttled       53300: there are too many connections
//	ErrTooLarge     54xxx, or more than 64 MiB
//	ErrUnreachable  08xxx, 25006, 40xxx, 53xxx, 55xxx, 57xxx, 58xxx, XXxxx with which the
//	                server ends, or no answer: whether a swap was made is ErrUnknown where no
//	                answer says that it was not
//	ErrRefused      all others
package postgres
