package notify_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/notify"
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

	require.Equal(t, notify.State{}, notify.Stat(filepath.Join(dir, "nothing")))
	require.Equal(t, notify.State{}, notify.Stat(filepath.Join(plain, "below a file")))
	require.False(t, notify.Stat(filepath.Join(dir, "nothing")).Exists())

	s := notify.Stat(plain)
	require.True(t, s.Exists())
	require.False(t, s.IsDir())
	require.True(t, notify.Stat(dir).IsDir())
	require.False(t, notify.Stat(dir).SameAs(s))

	odd := notify.Stat(filepath.Join(dir, "nul\x00byte"))
	require.True(t, odd.Hidden())
	require.True(t, odd.Exists())
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
			before := notify.Stat(path)
			tt.change(t, path)
			after := notify.Stat(path)
			require.Equal(t, tt.name == "nothing", before == after)
			require.Equal(t, tt.same, before.SameAs(after))
		})
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "x")
	s := notify.Stat(path)
	require.False(t, s.Settled(time.Now().Add(-time.Minute)))
	require.True(t, s.Settled(time.Now().Add(3*time.Second)))
	require.True(t, notify.State{}.Settled(time.Now()), "nothing has no times")
}
