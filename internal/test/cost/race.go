//go:build race

package cost

// exact tells whether allocations can be compared: the race detector drops
// what is pooled.
const exact = false
