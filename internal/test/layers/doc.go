// Package layers keeps the shape of the repository: which package may import which, which
// names are at the top level, where files are changed, and which constructs library code
// may not use. No package imports it: its tests apply its rules to every Go file outside of
// testdata, whatever platform it is for, and to the dependencies that the go command
// reports.
//
// A rule is a function that returns its findings as "path:line: text".
package layers
