package trash

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"killed": killedAt})
}

// open opens a sessions directory, of a project "p" when it is made.
func open(t *testing.T, dir string, hooks *seam.Seam) *sessionstore.Store {
	t.Helper()
	st, err := core.Open(dir, nil, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func newSessionsDir(t *testing.T) string { return filepath.Join(t.TempDir(), "p", "sessions") }

// put makes a session of a few files that were written long ago.
func put(t *testing.T, st *sessionstore.Store, id, parent string) {
	t.Helper()
	m, err := sessionstore.Text("user", "hello from "+strconv.Quote(id), time.Unix(0, 0))
	require.NoError(t, err)
	md, err := sessionstore.NewMetadata(map[string]string{"session_id": id, "name": "name of " + id, "created": "2026-01-02T03:04:05+00:00"})
	require.NoError(t, err)
	if parent != "" {
		require.NoError(t, md.Set("parent_id", parent))
	}
	for range 2 { // the second makes backups
		require.NoError(t, st.Save(t.Context(), id, []sessionstore.Message{m}, md))
		require.NoError(t, md.Set("turn_count", 1))
	}
	dir := filepath.Join(st.Dir(), id)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "context-intelligence"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "context-intelligence", "events.jsonl"), []byte("{}\n"), 0o600))
	age(t, dir, 48*time.Hour)
}

// age makes everything in dir that old.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by).Truncate(time.Second)
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}))
	for i := range all {
		require.NoError(t, os.Chtimes(all[len(all)-1-i], at, at))
	}
}

// tree returns all there is of a session, with times and modes; nil when it is
// not there.
func tree(dir string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		text := ""
		if !e.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		name, err := filepath.Rel(dir, path)
		all[name] = fmt.Sprint(fi.Mode(), fi.ModTime().UnixNano(), text)
		return err
	})
	if err != nil {
		return nil
	}
	return all
}

// places returns where the session id is: in its place, and in the trash.
func places(dir, id string) (found []string) {
	for _, pattern := range []string{id, filepath.Join(sessiondir.Trash, "*", sessionsDir, id)} {
		all, _ := filepath.Glob(filepath.Join(dir, pattern))
		found = append(found, all...)
	}
	return found
}

func plan(t *testing.T, st *sessionstore.Store, o Options, ids ...string) *Plan {
	t.Helper()
	p, err := NewPlan(t.Context(), st, ids, &o)
	require.NoError(t, err)
	return p
}

func ids(sessions []Session) (all []string) {
	for _, s := range sessions {
		all = append(all, s.ID)
	}
	return all
}
