//go:build race

package cost

// exact reports whether allocations can be compared: the race detector drops pooled values.
const exact = false
