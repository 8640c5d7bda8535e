// Package layers keeps the shape of the repository: which package may import
// which, what stands at the top level, where files are changed, and what
// library code may not hold. No package imports it: its tests apply its rules
// to every Go file outside of testdata, whatever platform it is for, and to the
// dependencies that the go command reports.
//
// A rule is a function that returns its findings as "path:line: text".
package layers
