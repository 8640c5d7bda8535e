// Package history holds the calls of a workload and their acknowledgements, and judges the
// state that a reader finds after a power cut. It reads and writes no file itself.
package history
