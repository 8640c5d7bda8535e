// Package runs counts the runs of a test in the folder that GOTEST_RUNS names.
package runs

import (
	"os"
	"path/filepath"
)

// First reports whether nobody asked with that name before.
func First(name string) bool {
	f, err := os.OpenFile(filepath.Join(os.Getenv("GOTEST_RUNS"), name), os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return false
	}
	if err != nil {
		panic(err)
	}
	return f.Close() == nil
}
