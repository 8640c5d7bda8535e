// Package history holds what a workload called and what was acknowledged, and
// judges what a reader finds after a power cut. It reads and writes no file
// itself.
package history
