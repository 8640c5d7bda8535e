// Package cost compares what operations cost with limits that are committed:
// allocations, and what they do to the disk, which are the same on every
// machine, unlike times.
package cost
