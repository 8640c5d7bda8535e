//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

// terminal is for systems that have such terminals.
func terminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there is no terminal: begin the line with [unix]")
}
