// Package peers measures the library beside SQLite (modernc.org/sqlite with a write-ahead
// log, one row a message) and bbolt, by Go benchmarks:
//
//	go test -bench . -count 5
//
// Durable is synchronous=FULL in SQLite, and a sync a transaction in bbolt; relaxed is no
// sync at all. BenchmarkTurn also measures the bare system calls of a turn.
package peers
