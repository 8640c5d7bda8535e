package vfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// hold opens the file as a program does that shares only what share says.
func hold(t *testing.T, path string, share uint32) (release func() error) {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	require.NoError(t, err)
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	require.NoError(t, err)
	return func() error { return windows.CloseHandle(h) }
}

// TestWaitForAProgram renames over a file, removes it and opens it while another
// program has it open.
func TestWaitForAProgram(t *testing.T) {
	t.Parallel()
	calls := map[string]func(root *os.Root) error{
		"rename":       func(root *os.Root) error { return root.Rename("new", "f") },
		"rename of it": func(root *os.Root) error { return root.Rename("f", "other") },
		"remove":       func(root *os.Root) error { return root.Remove("f") },
		"open": func(root *os.Root) error {
			f, err := openShared(func() (*os.File, error) { return root.OpenFile("f", os.O_RDWR, 0) })
			if err != nil {
				return err
			}
			return f.Close()
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("new"), 0o600))
			root, err := os.OpenRoot(dir)
			require.NoError(t, err)
			defer root.Close()
			share := uint32(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE)
			if name == "open" {
				share = 0
			}
			release := hold(t, path, share)
			freed := make(chan error, 1)
			go func() {
				time.Sleep(200 * time.Millisecond)
				freed <- release()
			}()
			start := time.Now()
			require.NoError(t, WhenFree(func() error { return call(root) }))
			require.NoError(t, <-freed)
			require.GreaterOrEqual(t, time.Since(start), 100*time.Millisecond, "the program kept nobody from the file")
		})
	}
}
