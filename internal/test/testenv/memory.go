package testenv

import (
	"os"
	"testing"
)

// memory is a file system in memory, where the system has one.
const memory = "/dev/shm"

// Scratch returns a directory for t that is in memory where the system has such.
func Scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory, "scratch-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
