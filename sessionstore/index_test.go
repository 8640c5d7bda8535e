package sessionstore_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// summaries returns all summaries by id.
func summaries(t testing.TB, st *sessionstore.Store) map[string]sessionstore.Summary {
	t.Helper()
	all := map[string]sessionstore.Summary{}
	for s, err := range st.Summaries(t.Context(), &sessionstore.ListOptions{All: true}) {
		require.NoError(t, err)
		all[s.ID] = s
	}
	return all
}

// secretSession makes a session with words that nothing else has: a small one,
// or one with a rows file.
func secretSession(t testing.TB, dir, id string, size int) {
	t.Helper()
	write(t, user("secret words of "+id+" "+strings.Repeat("x", size))+"\n"+`{"role": "assistant", "tool_calls": [{"id": "secret call of `+id+`"}]}`+"\n", dir, id, transcriptFile)
	write(t, `{"name": "secret name of `+id+`"}`, dir, id, metadataFile)
}

// indexed returns all that is in the index, with the names of its files.
func indexed(t testing.TB, dir string) (text string, files []string) {
	t.Helper()
	top := filepath.Join(dir, ".sessionstore")
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, d.Name())
		text += d.Name() + read(t, path)
		return nil
	}))
	return text, files
}

// TestIndexForgets removes sessions in all ways that there are, and searches
// the bookkeeping for their text.
func TestIndexForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := []string{"deleted", "cleaned", "trashed", "foreign", "sub_foreign", "stays"}
	for _, id := range ids {
		secretSession(t, dir, id, 10)
		secretSession(t, dir, "large-"+id, 1<<20)
	}
	time.Sleep(50 * time.Millisecond)
	st := open(t, dir, nil)
	require.Len(t, summaries(t, st), 2*len(ids))
	text, _ := indexed(t, dir)
	for _, id := range ids {
		if runtime.GOOS == "linux" { // elsewhere no entry is kept of small sessions
			require.Contains(t, text, "secret words of "+id)
		}
		require.Contains(t, text, "secret name of large-"+id)
		require.False(t, strings.Contains(text, "secret call of large-"+id), "the id of a call")
	}
	gone := func(id string) {
		t.Helper()
		text, _ := indexed(t, dir)
		for _, id := range []string{id, "large-" + id} {
			require.NotContains(t, text, "words of "+id)
			require.NotContains(t, text, "name of "+id)
			require.NotContains(t, text, "call of "+id)
		}
	}
	both := func(id string, do func(id string)) { do(id); do("large-" + id); gone(id) }

	both("deleted", func(id string) { require.NoError(t, st.Delete(t.Context(), id)) })

	old := time.Now().Add(-60 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "cleaned"), old, old))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "large-cleaned"), old, old))
	n, err := st.Cleanup(t.Context(), 30)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	gone("cleaned")

	trash, err := core.Of(st).Trash()
	require.NoError(t, err)
	require.NoError(t, trash.Mkdir("1"))
	require.NoError(t, trash.Close())
	both("trashed", func(id string) { require.NoError(t, core.Of(st).Send(t.Context(), id, ".trash/1")) })
	require.NoError(t, core.Of(st).Destroy(t.Context(), ".trash/1"))
	gone("trashed")

	for _, id := range []string{"foreign", "sub_foreign"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, id)))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "large-"+id)))
	}
	for range st.Summaries(t.Context(), &sessionstore.ListOptions{Limit: 1}) {
		break // it need not go through all of them
	}
	gone("foreign")
	gone("sub_foreign")
	text, _ = indexed(t, dir)
	require.Contains(t, text, "secret words of large-stays")
	require.Len(t, summaries(t, st), 2)
}

// TestIndexFiles looks at the files themselves: they are for the owner alone,
// what a killed process left goes, and no tool lists them.
func TestIndexFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secretSession(t, dir, "s", 1<<20)
	time.Sleep(50 * time.Millisecond)
	write(t, "secret words of a killed write", dir, ".sessionstore", "index", ".00.sums123")
	write(t, "of no session", dir, ".sessionstore", "index", strings.Repeat("ab", 16)+".rows")
	st := open(t, dir, nil)
	summaries(t, st)
	_, files := indexed(t, dir)
	require.Len(t, files, 3, files) // the lock, a shard and a rows file
	for _, name := range files {
		fi, err := os.Stat(filepath.Join(dir, ".sessionstore", "index", name))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), fi.Mode().Perm(), name)
	}
	infos, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.Len(t, infos, 1)
}

// TestWithoutIndex has something in the place of the index, so that nothing can
// be written there.
func TestWithoutIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secretSession(t, dir, "small", 10)
	secretSession(t, dir, "large", 1<<20)
	write(t, "", dir, ".sessionstore", "index")
	st := open(t, dir, nil)
	for range 2 {
		all := summaries(t, st)
		require.Len(t, all, 2)
		require.Equal(t, "secret name of large", all["large"].Title)
		rows, err := sessionstore.TurnOf(st, t.Context(), "large", 1)
		require.NoError(t, err)
		require.Len(t, rows, 2)
	}
	require.NoError(t, st.Delete(t.Context(), "small"))
}

// TestSummaryOfDamaged summarizes sessions that are damaged or not there.
func TestSummaryOfDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("a")+"\n{", dir, "backed", transcriptFile)
	write(t, user("a")+"\n"+user("b")+"\n", dir, "backed", transcriptBackup)
	write(t, user("a")+"\n{", dir, "damaged", transcriptFile)
	write(t, "{", dir, "damaged", metadataFile)
	write(t, user("a")+"\n", dir, "pending", transcriptBackup)
	write(t, user("a")+"\n"+user("b")+"\n", dir, "pending", transcriptFile)
	write(t, "", dir, "pending", "transcript.jsonl.append-pending")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	st := open(t, dir, nil)
	all := summaries(t, st)
	type is struct {
		turns   int
		damaged bool
	}
	got := map[string]is{}
	for id, s := range all {
		got[id] = is{s.Turns, s.Damaged}
	}
	require.Equal(t, map[string]is{"backed": {2, true}, "damaged": {1, true}, "pending": {1, false}, "empty": {0, false}}, got)
	_, err := st.Summary(t.Context(), "nowhere")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = st.Summary(t.Context(), "../x")
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	_, err = sessionstore.TurnOf(st, t.Context(), "damaged", 1)
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	_, err = sessionstore.LastTurnsOf(st, t.Context(), "backed", 0)
	require.Error(t, err)
}

// TestIndexShared lets several stores, which stand for processes, change and
// summarize one directory at once.
func TestIndexShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const sessions = 12
	id := func(n int) string { return fmt.Sprintf("s%d", n) }
	for n := range sessions {
		secretSession(t, dir, id(n), 10+n%2<<20)
	}
	var wait sync.WaitGroup
	for k := range 3 {
		st := open(t, dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
		wait.Go(func() {
			for n := k; n < sessions; n += 3 {
				for _, err := range st.Summaries(context.Background(), nil) {
					if err != nil {
						t.Errorf("summaries: %v", err)
					}
				}
				if n%4 == 3 {
					if err := st.Delete(context.Background(), id(n)); err != nil {
						t.Errorf("delete: %v", err)
					}
					continue
				}
				if err := st.Append(context.Background(), id(n), parse(t, user("more"))...); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	wait.Wait()
	all := summaries(t, open(t, dir, nil))
	require.Len(t, all, sessions-sessions/4)
	for id, s := range all {
		require.Equal(t, 2, s.Turns, id)
	}
	text, _ := indexed(t, dir)
	for n := 3; n < sessions; n += 4 {
		require.NotContains(t, text, "of "+id(n)+" ")
		require.NotContains(t, text, "name of "+id(n)+"\"")
	}
}

// TestIndexForgetsProjects lists more projects than may be open at once, then
// removes sessions as another tool does. Whatever is asked for, nothing of them
// stays in any index.
func TestIndexForgetsProjects(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	const many = 70
	sessions := func(n int) string { return filepath.Join(top, fmt.Sprint("-p", n), "sessions") }
	for n := range many {
		for _, id := range []string{"gone", "kept"} {
			secretSession(t, sessions(n), id, 10)
			at := noon.Add(-time.Duration(n) * time.Hour)
			require.NoError(t, os.Chtimes(filepath.Join(sessions(n), id), at, at))
		}
	}
	time.Sleep(50 * time.Millisecond)
	p, err := projects.Open(top, nil)
	require.NoError(t, err)
	list := func(o *sessionstore.ListOptions) (found int) {
		for _, err := range p.Summaries(t.Context(), o) {
			require.NoError(t, err)
			found++
		}
		return found
	}
	require.Equal(t, 2*many, list(nil))
	for n := range many {
		if runtime.GOOS == "linux" { // elsewhere no entry is kept of small sessions
			text, _ := indexed(t, sessions(n))
			require.Contains(t, text, "name of gone")
		}
		require.NoError(t, os.RemoveAll(filepath.Join(sessions(n), "gone")))
	}
	require.Equal(t, 1, list(&sessionstore.ListOptions{Limit: 1}))
	for n := range many {
		text, _ := indexed(t, sessions(n))
		require.NotContains(t, text, "name of gone")
		require.Equal(t, runtime.GOOS == "linux", strings.Contains(text, "name of kept"))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(top, "-p1")))
	require.Equal(t, many-1, list(nil))
	require.NoError(t, p.Close())
}

// TestProjectSummaries lists two projects together.
func TestProjectSummaries(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	var want []string
	for n, name := range []string{"-a", "-b", "-a", "-b"} {
		id := fmt.Sprint("s", n)
		secretSession(t, filepath.Join(top, name, "sessions"), id, 10)
		at := noon.Add(-time.Duration(n) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(top, name, "sessions", id), at, at))
		want = append(want, name+" "+id+" secret name of "+id)
	}
	p, err := projects.Open(top, nil)
	require.NoError(t, err)
	for range 2 {
		var got []string
		for s, err := range p.Summaries(t.Context(), nil) {
			require.NoError(t, err)
			got = append(got, s.Project+" "+s.ID+" "+s.Title)
		}
		require.Equal(t, want, got)
	}
	for s, err := range p.Summaries(t.Context(), &sessionstore.ListOptions{Limit: 1}) {
		require.NoError(t, err)
		require.Equal(t, "s0", s.ID)
	}
	require.NoError(t, p.Close())
}
