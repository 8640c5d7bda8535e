package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestStatKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	write(t, plain, "x")

	require.Equal(t, state{}, stateAt(filepath.Join(dir, "nothing")))
	require.Equal(t, state{}, stateAt(filepath.Join(plain, "below a file")))
	require.False(t, stateAt(filepath.Join(dir, "nothing")).exists())

	s := stateAt(plain)
	require.True(t, s.exists())
	require.Equal(t, file, s.kind)
	require.Equal(t, directory, stateAt(dir).kind)
	require.False(t, stateAt(dir).sameAs(s))

	odd := stateAt(filepath.Join(dir, "nul\x00byte"))
	require.Equal(t, hidden, odd.kind)
	require.True(t, odd.exists())
}

func TestStatTellsChanges(t *testing.T) {
	t.Parallel()
	early := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		same   bool // still the same file
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"longer", func(t *testing.T, path string) { write(t, path, "longer than before") }, true},
		{"time alone", func(t *testing.T, path string) {
			require.NoError(t, os.Chtimes(path, early, early.Add(time.Second)))
		}, true},
		{"another file of the same size and time", func(t *testing.T, path string) {
			if runtime.GOOS == "windows" {
				t.Skip("a file that takes the name of another inherits its time of creation")
			}
			write(t, path+"2", "x")
			require.NoError(t, os.Chtimes(path+"2", early, early))
			require.NoError(t, os.Rename(path+"2", path))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, "x")
			require.NoError(t, os.Chtimes(path, early, early))
			before := stateAt(path)
			tt.change(t, path)
			after := stateAt(path)
			require.Equal(t, tt.name == "nothing", before == after)
			require.Equal(t, tt.same, before.sameAs(after))
		})
	}
}

// TestSettled looks at a file until its state is settled: not as long as its time is to
// come. What is not there is at once.
func TestSettled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.True(t, stat(path).settled)
	write(t, path, "x")
	hour := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(path, hour, hour))
	require.False(t, stat(path).settled)
	require.NoError(t, os.Chtimes(path, hour, hour.Add(-2*time.Hour)))
	now := stateAt(path)
	for s := stat(path); !s.settled; s = stat(path) {
		require.Equal(t, now, s.state)
	}
}
