package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stuck limits the time of a command, which only a command that hangs takes, and endless the
// memory of this process, which only a command takes that reads a device without end.
const (
	stuck   = time.Minute
	endless = 2 << 30
)

// inPlaceOf puts a special file, or a symlink to one, in the place of a file.
func inPlaceOf(t *testing.T, path string, mode uint32, linked bool) {
	t.Helper()
	require.NoError(t, os.Remove(path))
	at := path
	if linked {
		at = filepath.Join(t.TempDir(), "special")
		require.NoError(t, os.Symlink(at, path))
	}
	require.NoError(t, syscall.Mknod(at, mode|0o600, 1<<8|5)) // the device of zeros
}

// ends runs the tool, which must end.
func ends(t *testing.T, state string, args []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan int, 1)
	go func() {
		code, _ := process(ctx, state, io.Discard, args)
		done <- code
	}()
	for begin := time.Now(); ; {
		select {
		case code := <-done:
			require.NotEqual(t, exitUsage, code, args)
			return
		case <-time.After(100 * time.Millisecond):
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > endless {
				panic("without end: " + strings.Join(args, " "))
			}
			if time.Since(begin) > stuck {
				t.Fatalf("it hangs: %v", args)
			}
		}
	}
}

// TestSpecialFiles has a FIFO, a socket, a device, or a symlink to one, in the place of a file of
// a session, and no command waits for it or reads it without end.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name string
		mode uint32
	}{{"FIFO", syscall.S_IFIFO}, {"socket", syscall.S_IFSOCK}}
	if os.Getuid() == 0 { // who alone makes devices
		kinds = append(kinds, struct {
			name string
			mode uint32
		}{"device", syscall.S_IFCHR})
	}
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		for _, file := range []string{"metadata.json", transcriptName, "events.jsonl", "config.md"} {
			for name, linked := range map[string]bool{kind.name: false, "link to " + kind.name: true} {
				t.Run(file+"/"+name, func(t *testing.T) {
					t.Parallel()
					root, state := twoTalks(t), t.TempDir()
					inPlaceOf(t, filepath.Join(root, "p", "sessions", "talk", file), kind.mode, linked)
					for _, args := range calls(root) {
						ends(t, state, args)
					}
				})
			}
		}
	}
}
