//go:build !linux

package dirread

// isPlain is false: nothing here asks.
func isPlain(string) bool { return false }
