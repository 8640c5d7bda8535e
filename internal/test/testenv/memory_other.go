//go:build !linux

package testenv

// InMemory does nothing: this system has no file system in memory that every test may use.
func InMemory() {}
