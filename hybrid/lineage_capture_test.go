package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// captures is where the log of events of a session and what describes it lie, below the
// session's directory.
const captures = "context-intelligence"

// describe writes what the log of events of a session tells of the session, as
// amplifier-agent does, in a session's directory.
func describe(t testing.TB, session, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(session, captures), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(session, captures, "metadata.json"), []byte(content), 0o600))
}

// captured has the log of events of a session name a parent.
func (r *testDevice) captured(id, parent string) {
	r.t.Helper()
	describe(r.t, filepath.Join(r.Dir(), id), fmt.Sprintf(`{"format":"context-intelligence","session_id":%q,"parent_id":%q}`, id, parent))
}

// TestParentInTheLogOfEvents: a parent that the log of events names keeps a session here,
// whether it was made so before the session was sent or later, also where nothing names
// it any more.
func TestParentInTheLogOfEvents(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("open", "hello")
	a.say("tax", "text that stays")
	for _, id := range []string{"early", "late", "lost", "root"} {
		a.say(id, "first text of "+id)
	}
	a.captured("early", "tax")
	a.captured("lost", "open")
	a.captured("root", "")
	require.NoError(t, a.KeepLocal(t.Context(), "tax"))
	require.Equal(t, 4, a.sync().Pushed)
	require.Equal(t, Local, a.state("early").State)
	c.requireNoTrace(t, "early", "tax")

	a.captured("late", "tax") // as a tool that writes the transcript first
	require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), "lost", captures)))
	a = c.reopened(t, a, "a")
	a.say("lost", "text while open leaves")
	require.Equal(t, 1, a.sync().Pushed)
	require.NoError(t, a.KeepLocal(t.Context(), "open"))
	for _, id := range []string{"early", "late", "lost"} {
		c.requireStays(t, a, id)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), "late", captures)))
	require.NoError(t, a.Delete(t.Context(), "tax"))
	a = c.reopened(t, a, "a")
	for _, id := range []string{"early", "late", "lost"} {
		c.requireStays(t, a, id)
	}
	a.say("root", "more")
	require.Equal(t, 1, a.sync().Pushed)
}

// TestUnreadableLogOfEvents: where the log of events cannot tell the parent, the session
// is held back until it can, or until somebody releases it.
func TestUnreadableLogOfEvents(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"torn": `{"parent_id": "ta`, "empty": "", "no object": "[]", "number": `{"parent_id": 7}`, "folder": "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("kid", "one")
			file := filepath.Join(a.Dir(), "kid", captures, "metadata.json")
			if name == "folder" {
				require.NoError(t, os.MkdirAll(file, 0o700))
			} else {
				describe(t, filepath.Join(a.Dir(), "kid"), content)
			}
			a.ruled()
			a.requireHeld("kid")
			require.Contains(t, a.state("kid").Err.Error(), captures)
			require.Empty(t, c.documents())

			require.NoError(t, a.Release(t.Context(), "kid"))
			require.Equal(t, 1, a.sync().Pushed)
			require.NoError(t, a.KeepLocal(t.Context(), "kid"))
			require.NoError(t, os.RemoveAll(filepath.Dir(file)))
		})
	}
}

// TestTornLogOfEventsIsReadAgain: the background sends a session when the log of events
// can be read again, though no file of the session changed.
func TestTornLogOfEventsIsReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background)
		a.ruled()
		a.say("kid", "one")
		a.captured("kid", "")
		file := filepath.Join(a.Dir(), "kid", captures, "metadata.json")
		require.NoError(t, os.Truncate(file, 3))
		time.Sleep(10 * time.Minute)
		require.Empty(t, c.documents())
		require.Equal(t, Blocked, a.state("kid").State)
		a.captured("kid", "")
		time.Sleep(time.Hour)
		require.Equal(t, 1, c.documents()["head"])
		require.Equal(t, UpToDate, a.state("kid").State)
	})
}

// TestLogOfEventsElsewhere: tools may keep the logs of events of all projects apart from
// the sessions.
func TestLogOfEventsElsewhere(t *testing.T) {
	home, base := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AMPLIFIER_CONTEXT_INTELLIGENCE_BASE_PATH", base)
	dir := filepath.Join(t.TempDir(), "state", "workspaces", "demo", "sessions")
	c := newCloud(t, nil)
	a := c.deviceAt(t, dir, "a")
	a.say("open", "hello")
	a.say("tax", "text that stays")
	require.NoError(t, a.KeepLocal(t.Context(), "tax"))
	for i, root := range []string{base, filepath.Join(home, ".amplifier", "projects"), filepath.Join(home, ".amplifier-agent", "state", "workspaces")} {
		id := fmt.Sprint("kid-", i)
		a.say(id, "text of a kid")
		a.captured(id, "open") // each place counts
		describe(t, filepath.Join(root, "demo", "sessions", id), `{"parent_id": "tax"}`)
		describe(t, filepath.Join(root, "another", "sessions", "open"), `{"parent_id": "tax"}`)
	}
	require.Equal(t, 1, a.sync().Pushed)
	c.requireNoTrace(t, "kid", "tax")

	a.say("visitor", "one")
	describe(t, filepath.Join(base, "demo", "sessions", "visitor"), `{"parent_id": "open"}`)
	require.Equal(t, 1, a.sync().Pushed)
	t.Setenv("AMPLIFIER_CONTEXT_INTELLIGENCE_BASE_PATH", "")
	a = c.reopened(t, a, "a") // a program that is not told where the logs are
	require.NoError(t, a.KeepLocal(t.Context(), "open"))
	c.requireStays(t, a, "visitor")
}

// TestParentIsNamedNoMore: tools that know nothing of parents replace the metadata as a
// whole. What a session was made from is remembered, until somebody releases it.
func TestParentIsNamedNoMore(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.ruled()
	a.say("open", "hello")
	a.child("kid", "open")
	a.child("unknown", "elsewhere")
	a.requireHeld("unknown")
	for _, id := range []string{"kid", "unknown"} {
		a.put(id, "metadata.json", `{"last_turn": "complete"}`)
		require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), id, "metadata.json.backup")))
	}
	a = c.reopened(t, a, "a")
	a.requireHeld("unknown") // it is not known what became of the parent
	require.NoError(t, a.Release(t.Context(), "unknown"))
	require.Equal(t, 1, a.sync().Pushed)
	require.NoError(t, a.KeepLocal(t.Context(), "open"))
	c.requireStays(t, a, "kid")
	a.say("unknown", "more")
	require.Equal(t, 1, a.sync().Pushed)
}

// TestParentIsRememberedElsewhere moves a directory, and opens it on a machine with another
// id, as after a new installation: it is another device, and what a session was made from is
// remembered still.
func TestParentIsRememberedElsewhere(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(t *testing.T, dir string) (machine, string){
		"moved": func(t *testing.T, dir string) (machine, string) {
			require.NoError(t, os.Rename(dir, dir+" moved"))
			return computer("m", "laptop"), dir + " moved"
		},
		"another machine": func(_ *testing.T, dir string) (machine, string) { return computer("n", "laptop"), dir },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			dir := filepath.Join(t.TempDir(), "sessions")
			a := c.on(t, computer("m", "laptop"), dir, nil)
			a.say("secret", "hello")
			require.NoError(t, a.KeepLocal(t.Context(), "secret"))
			a.child("kid", "secret")
			a.sync()
			c.requireStays(t, a, "kid")
			a.put("kid", "metadata.json", `{"last_turn": "complete"}`)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "kid", "metadata.json.backup")))
			requireClosed(t, a.Store)
			m, at := next(t, dir)
			a = c.on(t, m, at, nil)
			require.Zero(t, a.sync().Pushed)
			c.requireStays(t, a, "kid")
			require.NoError(t, a.Release(t.Context(), "kid"))
			require.Equal(t, 1, a.sync().Pushed)
		})
	}
}
