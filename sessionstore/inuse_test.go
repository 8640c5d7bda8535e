package sessionstore

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// TestWritesWaitForAProgram refuses some changes of names, as Windows does while
// another program has the file open: every write waits for it, and succeeds.
func TestWritesWaitForAProgram(t *testing.T) {
	t.Parallel()
	for _, kind := range []seam.Kind{seam.Rename, seam.Exchange, seam.Remove, seam.Chtimes} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			var refused, armed atomic.Int32
			dir := t.TempDir()
			st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
				switch {
				case op.Kind == seam.Exchange && kind == seam.Rename:
					return errNoExchangeHere // names are renamed then
				case op.Kind == kind && kind != seam.Exchange && armed.Load() > 0 && refused.Add(1)%4 != 0:
					return &os.PathError{Op: "rename", Path: op.Name, Err: vfs.ErrInUse}
				}
				return nil
			}})
			require.NoError(t, err)
			defer func() { require.NoError(t, st.Close()) }()
			armed.Store(1)
			m, err := ParseMessage([]byte(`{"role": "user", "content": "x"}`))
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, st.Append(t.Context(), "s", m))
			}
			require.NoError(t, st.Save(t.Context(), "s", []Message{m}, Metadata{}))
			s, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, s.Messages, 1)
			if kind != seam.Exchange {
				require.Positive(t, refused.Load())
			}
			requireNoDotFiles(t, filepath.Join(dir, "s"))
			require.NoError(t, st.Delete(t.Context(), "s"))
		})
	}
}

var errNoExchangeHere = &os.LinkError{Op: "renameat2", Err: os.ErrPermission}

func requireNoDotFiles(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.False(t, strings.HasPrefix(e.Name(), "."), e.Name())
	}
}

// TestProgramKeepsTheTranscript has a program that never lets go of the
// transcript: the write fails with that reason after the time that writers wait
// for a lock, and leaves the session as it was.
func TestProgramKeepsTheTranscript(t *testing.T) {
	t.Parallel()
	keeps := &atomic.Bool{}
	dir := t.TempDir()
	st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
		if keeps.Load() && (op.Kind == seam.Exchange || op.Kind == seam.Rename) && strings.Contains(op.To, "transcript") {
			if op.Kind == seam.Exchange {
				return errNoExchangeHere
			}
			return &os.LinkError{Op: "rename", Old: op.Name, New: op.To, Err: vfs.ErrInUse}
		}
		return nil
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	m, err := ParseMessage([]byte(`{"role": "user", "content": "x"}`))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", m))
	keeps.Store(true)
	err = st.Append(t.Context(), "s", m)
	require.ErrorIs(t, err, vfs.ErrInUse)
	require.ErrorContains(t, err, "another program has the file open")
	require.ErrorContains(t, err, "transcript.jsonl")
	requireNoDotFiles(t, filepath.Join(dir, "s"))
	keeps.Store(false)
	require.NoError(t, st.Append(t.Context(), "s", m))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, s.Messages, 2)
}
