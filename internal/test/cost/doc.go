// Package cost compares the costs of operations with committed limits: allocations, and
// operations on the disk. These are the same on every machine, unlike times.
package cost
