package atomicfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReserve reserves more, less and as much as is written: content and size
// are those of what was written.
func TestReserve(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	d := New(root, nil)
	want := bytes.Repeat([]byte("0123456789abcde\n"), 3*early/16+1)
	for _, sync := range []bool{false, true} {
		for _, n := range []int64{0, 1, early, int64(len(want)), 5 * early} {
			require.NoError(t, d.Replace("f", sync, time.Now(), func(w io.Writer) error {
				Reserve(w, n)
				half := len(want) / 2
				_, err := w.Write(want[:half])
				require.NoError(t, err)
				RoomFor(w).Reserve(n)
				_, err = w.Write(want[half:])
				return err
			}))
			got, err := os.ReadFile(filepath.Join(root.Name(), "f"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
		}
	}
	require.NoError(t, d.Close())
}

// TestRoomElsewhere reserves nothing where something may stand already.
func TestRoomElsewhere(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("text")
	require.NoError(t, err)
	_, err = f.Seek(1, io.SeekStart)
	require.NoError(t, err)
	require.Nil(t, newRoom(f))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.Nil(t, newRoom(w))
	newRoom(w).Reserve(1)
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
	Reserve(io.Discard, early)
}
