// Package conformance holds one test: it runs golden vectors, which were
// recorded from the Python reference, through this module.
//
//	go test -v ./internal/test/conformance [-golden DIR]...
//
// A case either has the reference's outcome, or the outcome that the rules of
// testdata/golden/deviations.json make of it. The rules in force are always
// those of the repository, whatever directory the vectors come from, and they
// judge what a case does, never what it is called.
//
// Where outcomes differ, a small model of a session's directory predicts both
// sides: without rules it must give what the reference did, with rules what
// this module did. The rules that made the difference are counted.
package conformance
