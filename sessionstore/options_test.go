package sessionstore

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// TestDurability counts what is synced, and requires of the default that no
// name changes after the names were synced.
func TestDurability(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		durability Durability
		syncs      bool // the files, and the names last
	}{
		{"durable", Durable, true},
		{"relaxed", Relaxed, false},
	}
	for _, call := range faultCalls() {
		for _, tt := range tests {
			t.Run(call.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, faultStore(t)))
				files, pending := 0, 0
				st, err := open(dir, &Options{Durability: tt.durability}, &seam.Seam{After: func(op seam.Op) {
					switch op.Kind {
					case seam.Sync:
						files++
					case seam.SyncDir:
						pending = 0
					case seam.Rename, seam.Exchange, seam.Link:
						pending++
					}
				}})
				require.NoError(t, err)
				require.NoError(t, call.do(t.Context(), st))
				require.NoError(t, st.Close())
				if call.name != "delete" {
					require.Equal(t, tt.syncs, files > 0)
				}
				if tt.syncs {
					require.Zero(t, pending, "names that are not synced")
				}
			})
		}
	}
}

// TestLogTellsOfRecovery shows that damage is told of, without content.
func TestLogTellsOfRecovery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, faultStore(t)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d", sessiondir.Metadata), []byte(`{"password": "hunter2" x`), 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, "d", sessiondir.Backup(sessiondir.Metadata))))
	var log bytes.Buffer
	st, err := Open(dir, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	s, err := st.Load(t.Context(), "d")
	require.ErrorIs(t, err, ErrCorrupt)
	require.Contains(t, log.String(), "session=d")
	log.Reset()
	require.NoError(t, st.Save(t.Context(), "d", s.Messages, s.Metadata))
	require.NoError(t, st.Close())
	require.Contains(t, log.String(), ".damaged-")
	require.NotContains(t, log.String(), "hunter2")
}

// TestOptionsAreCopied changes options after a store was opened with them.
func TestOptionsAreCopied(t *testing.T) {
	t.Parallel()
	changes := 0
	opts := &Options{OnChange: func(Change) { changes++ }}
	st, err := Open(t.TempDir(), opts)
	require.NoError(t, err)
	require.Nil(t, opts.Now, "they are not written to")
	opts.OnChange = nil
	require.NoError(t, st.Save(t.Context(), "s", nil, Metadata{}))
	require.NoError(t, st.Close())
	require.NotZero(t, changes)
}
