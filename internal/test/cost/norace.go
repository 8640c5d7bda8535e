//go:build !race

package cost

// exact tells whether allocations can be compared.
const exact = true
