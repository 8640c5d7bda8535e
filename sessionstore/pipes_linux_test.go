package sessionstore_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// TestPipesForFolders puts a pipe in the place of each directory that the library keeps for
// itself: no call waits for its other end. Lists go on without their index, and it is told.
func TestPipesForFolders(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".sessionstore", ".sessionstore/index", ".sessionstore/locks", ".sessionstore/new", ".sessionstore/emptied", ".trash"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			var told bytes.Buffer
			st, err := sessionstore.Open(filepath.Join(t.TempDir(), "p", "sessions"), &sessionstore.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
			require.NoError(t, err)
			defer func() { require.NoError(t, st.Close()) }()
			m, err := sessionstore.Text("user", "hello", time.Now())
			require.NoError(t, err)
			require.NoError(t, st.Append(t.Context(), "s", m))
			path := filepath.Join(st.Dir(), folder)
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, syscall.Mkfifo(path, 0o600))

			for again := true; again; again = folder == ".sessionstore/index" && !strings.Contains(told.String(), "index not written") {
				n := 0 // the index takes a session only when its files cannot change unseen any more
				for s, err := range st.Summaries(t.Context(), nil) {
					require.NoError(t, err)
					require.Equal(t, "s", s.ID)
					n++
				}
				require.Equal(t, 1, n)
			}
			infos, err := st.List(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, infos, 1)
			require.NoError(t, st.Append(t.Context(), "s", m))
			_, err = st.Load(t.Context(), "s")
			require.NoError(t, err)
			_, _ = trash.List(t.Context(), st) // ends, whatever it says
			_ = st.Append(t.Context(), "new", m)
			_ = st.Delete(t.Context(), "s")
		})
	}
}
