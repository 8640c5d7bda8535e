// Peers measures other stores that programs keep messages in: SQLite
// (modernc.org/sqlite with a write-ahead log, one row a message), bbolt and
// tidwall/wal.
//
//	peers STORE append N REPS synced|normal|relaxed  one more of N messages, in a transaction of its own
//	peers STORE load N REPS                          all N messages copied out, in order
//	peers STORE list N REPS                          the names of N sessions, the last changed first
//	peers STORE appenders G N synced|relaxed         G goroutines that append N messages each; seconds a message
//
// STORE is sqlite, bbolt or wal; wal holds no names, so it has no list, and
// normal is SQLite's middle way alone: its log is synced when it is merged.
// Synced is synchronous=FULL in SQLite and a sync a transaction in the others;
// relaxed is no sync at all.
//
// The messages are the lines of t<N>.jsonl in $BENCH_DATA; scratch files go to
// $BENCH_WORK. The output is a line in the form of the bench driver's, which
// runs this program ("bench peers") beside the same measurements of the
// library.
//
// A turn as an agent makes it is a Go benchmark, which runs the library, bare system
// calls and SQLite in turn: go test -bench Turn -benchtime 200x.
package main
