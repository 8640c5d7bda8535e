package sessionstore

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// metadataOfAll reads the metadata of all sessions of st.
func metadataOfAll(t *testing.T, st *Store) map[string]string {
	t.Helper()
	infos, err := st.List(t.Context(), &ListOptions{All: true})
	require.NoError(t, err)
	metadata := map[string]string{}
	for _, info := range infos {
		md, err := st.Metadata(t.Context(), info.ID)
		metadata[info.ID] = fmt.Sprint(string(md.AppendTo(nil)), " ", err)
	}
	return metadata
}

// unhurried waits until no change that was made before could hide a later one.
func unhurried() { time.Sleep(50 * time.Millisecond) }

// invalidate forgets what is known of the files of session id.
func (c *sessionCache) invalidate(id string) {
	s := c.call(id)
	s.invalidate()
	c.end(s)
}

// knowingStore returns a store of sessions with metadata, which it has read.
func knowingStore(t *testing.T, ids ...string) *Store {
	t.Helper()
	at := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, Now: func() time.Time { return at }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for _, id := range ids {
		writeMetadata(t, st, id, `{"id": "`+id+`"}`)
	}
	metadataOfAll(t, st)
	return st
}

func writeMetadata(t *testing.T, st *Store, id, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(st.Dir(), id), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), id, sessiondir.Metadata), []byte(text), 0o600))
}

// TestMetadataIsNeverOld reads metadata while another store replaces it: what is
// read is not older than what was acknowledged before.
func TestMetadataIsNeverOld(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c_d"}
	st := knowingStore(t, ids...)
	other, err := Open(st.Dir(), &Options{Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	var (
		wrote [3]atomic.Int64
		ended atomic.Bool
		all   sync.WaitGroup
	)
	for range 2 {
		all.Go(func() {
			for n := 0; !ended.Load(); n++ {
				i := n % len(ids)
				least := wrote[i].Load()
				md, err := st.Metadata(t.Context(), ids[i])
				if got, _ := md.Int("n"); err != nil || int64(got) < least {
					t.Errorf("%d after %d: %v", got, least, err)
					return
				}
			}
		})
	}
	for n := range testenv.Share(60, 60, 150) {
		i := n % len(ids)
		_, err := other.UpdateMetadata(t.Context(), ids[i], func(md *Metadata) error { return md.Set("n", n) })
		require.NoError(t, err)
		wrote[i].Store(int64(n))
	}
	ended.Store(true)
	all.Wait()
}
