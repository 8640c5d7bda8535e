package sessionstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

var everything = &ListOptions{All: true}

// listing lists all sessions of st and reads their metadata.
func listing(t *testing.T, st *Store) (infos []Info, metadata map[string]string) {
	t.Helper()
	infos, err := st.List(t.Context(), everything)
	require.NoError(t, err)
	metadata = map[string]string{}
	for _, info := range infos {
		md, err := st.Metadata(t.Context(), info.ID)
		metadata[info.ID] = fmt.Sprint(string(md.AppendTo(nil)), " ", err)
	}
	return infos, metadata
}

// unhurried waits until no change that was made before could hide a later one.
func unhurried() { time.Sleep(50 * time.Millisecond) }

// kept returns for how many sessions st keeps metadata.
func (c *sessionCache) listedCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed.of.Len()
}

// invalidate forgets what is known of the files of session id.
func (c *sessionCache) invalidate(id string) {
	s := c.call(id)
	s.invalidate()
	c.end(s)
}

// listedStore returns a store of sessions with metadata, and listed them often
// enough for it to keep that.
func listedStore(t *testing.T, ids ...string) *Store {
	t.Helper()
	at := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, Now: func() time.Time { return at }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for _, id := range ids {
		writeMetadata(t, st, id, `{"id": "`+id+`"}`)
	}
	unhurried()
	for range 2 {
		require.Zero(t, st.cache.listedCount(), "one listing keeps nothing")
		listing(t, st)
	}
	if keeps(t, st.Dir()) {
		require.Equal(t, len(ids), st.cache.listedCount())
	}
	return st
}

func writeMetadata(t *testing.T, st *Store, id, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(st.Dir(), id), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), id, sessiondir.Metadata), []byte(text), 0o600))
}

// TestListedIsDropped: what is kept of sessions that are gone goes, of those
// alone of which the listing tells.
func TestListedIsDropped(t *testing.T) {
	t.Parallel()
	st := listedStore(t, "a", "b", "c", "p_x", "p_y")
	if !keeps(t, st.Dir()) {
		return
	}
	require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), "a")))
	require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), "p_x")))
	_, err := st.List(t.Context(), &ListOptions{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, 4, st.cache.listedCount())
	require.Nil(t, st.cache.getListed("a").text)
	_, err = st.List(t.Context(), everything)
	require.NoError(t, err)
	require.Equal(t, 3, st.cache.listedCount())

	require.NoError(t, os.Remove(filepath.Join(st.Dir(), "b", sessiondir.Metadata)))
	_, _ = st.Metadata(t.Context(), "b")
	require.Equal(t, 2, st.cache.listedCount(), "there is no such file any more")
	writeMetadata(t, st, "c", `{"long": "`+strings.Repeat("x", shortText)+`"}`)
	unhurried()
	_, err = st.Metadata(t.Context(), "c")
	require.NoError(t, err)
	require.Equal(t, 1, st.cache.listedCount(), "too long")
	writeMetadata(t, st, "c", strings.Repeat(" ", shortText)+"{}")
	unhurried()
	_, err = st.Metadata(t.Context(), "c")
	require.NoError(t, err)
	require.Equal(t, 1, st.cache.listedCount(), "too long with its spaces")

	require.NoError(t, os.RemoveAll(st.Dir()))
	_, err = st.List(t.Context(), everything)
	require.ErrorIs(t, err, ErrNotFound)
	require.Zero(t, st.cache.listedCount())
	require.Zero(t, st.cache.listed.of.Cost())
	require.Zero(t, st.cache.listed.top)
}

// TestListedIsBounded keeps more than there is room for.
func TestListedIsBounded(t *testing.T) {
	t.Parallel()
	st := listedStore(t, "a")
	if !keeps(t, st.Dir()) {
		return
	}
	const bound = 32 << 20
	c, one := newSessionCache(bound), st.cache.getListed("a")
	one.text = make([]byte, 1<<20)
	for i := range 100 {
		id := fmt.Sprint("session-", i)
		c.putListed(id, one)
		c.putListed(id, one)
		require.LessOrEqual(t, c.listed.of.Cost(), int64(bound/listedPart))
		require.NotNil(t, c.getListed("session-0").text, "who comes late drives nobody out")
	}
	require.Equal(t, bound/listedPart>>20-1, c.listedCount())
}

// TestListedIsNotShared changes what a caller was given.
func TestListedIsNotShared(t *testing.T) {
	t.Parallel()
	st := listedStore(t, "a")
	for range 3 {
		md, err := st.Metadata(t.Context(), "a")
		require.NoError(t, err)
		raw, ok := md.Lookup("id")
		require.True(t, ok)
		require.Equal(t, `"a"`, string(raw))
		copy(raw, "xxx")
		require.NoError(t, md.Set("id", 1))
		md.Delete("id")
	}
}

// TestListedIsNeverOld reads metadata while another store replaces it: what is
// read is not older than what was acknowledged before.
func TestListedIsNeverOld(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c_d"}
	st := listedStore(t, ids...)
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
		if n%10 == 0 {
			unhurried()
			_, err := st.List(t.Context(), everything)
			require.NoError(t, err)
		}
	}
	ended.Store(true)
	all.Wait()
}
