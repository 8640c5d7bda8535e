//go:build !windows

package screen

// obeysEscapes reports whether the terminal obeys escape sequences.
func obeysEscapes(any) bool { return true }
