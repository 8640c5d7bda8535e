// Package conformance holds one test: it runs golden vectors, which were
// recorded from the Python reference, through this module.
//
//	go test -v ./internal/test/conformance [-golden DIR]...
//
// The calls of the reference's command (cli.json) are compared with the command-line tool,
// which is a module of its own: its tests run this one with -tool PROGRAM. Where -golden is
// given, this test builds it.
//
// A case either has the reference's outcome, or the outcome that the rules of
// testdata/golden/deviations.json make of it. The rules in force are always the
// repository's, whatever directory the vectors come from, and they judge the actions of a
// case, never its name.
//
// Where outcomes differ, a small model of a session's directory predicts both sides:
// without rules it must give the reference's outcome, with rules this module's. The rules
// that made the difference are counted.
package conformance
