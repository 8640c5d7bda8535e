package cost

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCalls(t *testing.T) {
	CheckCalls(t, "testdata/calls.txt", 10, func() []Operation {
		dir := t.TempDir()
		return []Operation{
			{Name: "nothing", Do: func() error { return nil }},
			{Name: "stat", Do: func() error { _, err := os.Stat(dir); return err }},
			{Name: "goroutine", Do: func() error {
				done := make(chan error)
				go func() {
					_, err := os.Stat(dir)
					if err == nil {
						_, err = os.Lstat(filepath.Join(dir, "."))
					}
					done <- err
				}()
				return <-done
			}},
		}
	})
}
