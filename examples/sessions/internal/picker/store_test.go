package picker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// openTest opens projects of which one has a session.
func openTest(t *testing.T) (store, Session) {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p, err := projects.Open(filepath.Join(t.TempDir(), "projects"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	st, err := p.Store("one")
	require.NoError(t, err)
	var rows []sessionstore.Message
	for _, row := range []map[string]any{
		{"role": "user", "content": "Find the \x1bleak\nin the pool"},
		{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "1", "tool": "ba\x1bsh", "arguments": map[string]any{}}}},
		{"role": "tool", "tool_call_id": "1", "content": "secret output"},
		{"role": "assistant", "content": "It is \u202ethere."},
	} {
		m, err := sessionstore.NewMessage(row)
		require.NoError(t, err)
		rows = append(rows, m)
	}
	md, err := sessionstore.NewMetadata(map[string]any{"working_dir": work, "model": "m"})
	require.NoError(t, err)
	id := sessionstore.NewID()
	require.NoError(t, st.Save(t.Context(), id, rows, md))
	return store{p, "", nil}, Session{Key: Key{"one", id}, Dir: work}
}

func TestStoreLists(t *testing.T) {
	t.Parallel()
	for _, project := range []string{"", "one", "other"} {
		s, want := openTest(t)
		var all []Session
		done := 0
		s.list(t.Context(), 7, project, false, func(e tea.Msg) {
			l := e.(Listed)
			require.NoError(t, l.Err)
			require.Equal(t, 7, l.Gen)
			all = append(all, l.Sessions...)
			if l.Done {
				done++
			}
		})
		require.Equal(t, 1, done)
		if project == "other" {
			require.Empty(t, all)
			continue
		}
		require.Len(t, all, 1)
		require.Equal(t, want.Key, all[0].Key)
		require.Equal(t, want.Dir, all[0].Dir)
		require.Equal(t, 1, all[0].Turns)
	}
}

// TestStoreListsBesideOneThatCannotBeRead has an entry, and a project, that lead
// nowhere. The screen shows the sound session and the first of the reasons.
func TestStoreListsBesideOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a privilege on Windows")
	for _, project := range []string{"", "one"} {
		s, want := openTest(t)
		require.NoError(t, os.Symlink("nowhere", filepath.Join(s.projects.Dir(), "one", "sessions", "lost")))
		require.NoError(t, os.Symlink("/", filepath.Join(s.projects.Dir(), "one", "sessions", "out")))
		unread := 2
		if project == "" {
			require.NoError(t, os.Symlink("nowhere", filepath.Join(s.projects.Dir(), "gone")))
			unread = 3
		}
		m, _ := newRecorded(Options{Now: time.Now})
		s.list(t.Context(), 1, project, false, func(e tea.Msg) {
			if l := e.(Listed); l.Done {
				require.NoError(t, l.Err)
				require.Len(t, l.Unread, unread)
			}
			m.Update(e)
		})
		require.Len(t, m.list.all, 1)
		require.Equal(t, want.Key, m.list.all[0].Key)
		require.Contains(t, screenText(m, 200, 24), fmt.Sprintf("%d could not be read: sessionstore: summarize session ", unread))
	}
}

func TestStoreReads(t *testing.T) {
	t.Parallel()
	s, session := openTest(t)
	require.Equal(t, Previewed{Key: session.Key, Passages: []Passage{
		{"user", "Find the \ufffdleak\nin the pool", ""}, {"tool", "", "→ ba\ufffdsh {} ← secret output"}, {"assistant", "It is \ufffdthere.", ""},
	}}, s.preview(t.Context(), session.Key))
	require.Equal(t, TurnsRead{Key: session.Key, Turns: []string{"Find the \ufffdleak in the pool"}}, s.turns(t.Context(), session.Key))
	var found []tea.Msg
	s.search(t.Context(), 3, "LEAK\nin", "", func(e tea.Msg) { found = append(found, e) })
	require.Equal(t, []tea.Msg{Found{Gen: 3, Key: session.Key, Excerpts: []Excerpt{{"user", "Find the \ufffd", "leak in", " the pool"}}}, Found{Gen: 3, Done: true}}, found)
	found = nil
	s.search(t.Context(), 4, "secret output", "", func(e tea.Msg) { found = append(found, e) })
	require.Equal(t, []tea.Msg{Found{Gen: 4, Done: true}}, found, "answers of tools are not searched")
	require.ErrorIs(t, s.preview(t.Context(), Key{"one", "nothing"}).(Previewed).Err, sessionstore.ErrNotFound)
}

func TestStoreExports(t *testing.T) {
	t.Parallel()
	s, session := openTest(t)
	for _, name := range []string{"a.md", "a.html", "a.jsonl", "a.tar"} {
		file := filepath.Join(t.TempDir(), name)
		require.Equal(t, Exported{File: file}, s.export(t.Context(), session.Key, file))
		require.FileExists(t, file)
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.Equal(t, Exported{File: file}, s.export(t.Context(), session.Key, file))
		written, err := os.Stat(file)
		require.NoError(t, err)
		require.NotZero(t, written.Size(), "in the place of the file that was there")
	}
	require.ErrorContains(t, s.export(t.Context(), session.Key, "a.txt").(Exported).Err, ".jsonl")
}

// TestStoreRemoves removes a session of which the cloud lacks something only when a
// person said so.
func TestStoreRemoves(t *testing.T) {
	t.Parallel()
	s, session := openTest(t)
	lacking := errors.New("nobody can say")
	s.unsynced = func(*sessionstore.Store) func(context.Context, []string) (map[string]string, error) {
		return func(_ context.Context, ids []string) (map[string]string, error) {
			return map[string]string{ids[0]: "the cloud lacks it"}, lacking
		}
	}
	require.ErrorIs(t, s.plan(t.Context(), session).(Planned).Err, lacking)
	lacking = nil
	planned := s.plan(t.Context(), session).(Planned)
	require.NoError(t, planned.Err)
	require.Contains(t, planned.Obstacle, "the cloud lacks it")
	require.Equal(t, []trash.Kind{trash.Recent, trash.Unsynced}, planned.Allow)
	require.Error(t, s.remove(t.Context(), session, []trash.Kind{trash.Recent}).(Deleted).Err)
	require.NoError(t, s.remove(t.Context(), session, planned.Allow).(Deleted).Err)
}

// TestCheck goes through what keeps a session from being resumed.
func TestCheck(t *testing.T) {
	t.Parallel()
	s, session := openTest(t)
	obstacle := func(msg tea.Msg) Obstacle {
		e := msg.(Checked)
		if e.Obstacle != NoHost && e.Obstacle != Locked {
			require.NoError(t, e.Err)
		}
		return e.Obstacle
	}
	host, err := os.Executable()
	require.NoError(t, err)
	require.Equal(t, NoHost, obstacle(s.check(t.Context(), "no-such-host", session)))
	require.Equal(t, NoObstacle, obstacle(s.check(t.Context(), host, session)))
	unknown := session
	unknown.Dir = ""
	require.Equal(t, NoDir, obstacle(s.check(t.Context(), host, unknown)))
	gone := session
	gone.Dir = filepath.Join(session.Dir, "a", "b")
	require.Equal(t, DirGone, obstacle(s.check(t.Context(), host, gone)))
	require.Equal(t, NoObstacle, obstacle(s.makeDir(t.Context(), host, gone)))
	require.DirExists(t, gone.Dir)

	st, err := s.projects.Store("one")
	require.NoError(t, err)
	other, err := sessionstore.Open(st.Dir(), nil)
	require.NoError(t, err)
	hold, err := other.Acquire(t.Context(), session.ID, sessionstore.Owner{App: "some-host"})
	require.NoError(t, err)
	e := s.check(t.Context(), host, session).(Checked)
	require.Equal(t, Locked, e.Obstacle)
	require.ErrorContains(t, e.Err, "some-host")
	require.NoError(t, hold.Release())
	require.Equal(t, NoObstacle, obstacle(s.check(t.Context(), host, session)))
	hold, err = other.Acquire(t.Context(), session.ID, sessionstore.Owner{})
	require.NoError(t, err, "the check gave the lock back")
	require.NoError(t, hold.Release())
	require.NoError(t, other.Close())
}

// TestConflictCopies marks the sessions that keep what one of two devices wrote at once.
func TestConflictCopies(t *testing.T) {
	t.Parallel()
	s := sessionOf(projects.Summary{Project: "p", Summary: sessionstore.Summary{ID: "c", Title: "a talk", Fork: true, Parent: "o", ConflictOf: "o"}})
	m := &Model{Options: Options{Now: time.Now}}
	require.Contains(t, m.row(&s, 0, false, 80), "↳ conflict copy: a talk")
	s.Conflict = false
	require.NotContains(t, m.row(&s, 0, false, 80), "conflict")
}
