//go:build !race

package cost

// exact reports whether allocations can be compared.
const exact = true
