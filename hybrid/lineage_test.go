package hybrid

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// child makes a session whose metadata names a parent.
func (r *testDevice) child(id, parent string) {
	r.t.Helper()
	r.say(id, "text of "+id)
	r.setMember(id, "parent_id", parent)
}

// ruled gives the directory a rule, which keeps none of the sessions of the test.
func (r *testDevice) ruled() {
	r.t.Helper()
	require.NoError(r.t, r.KeepLocal(r.t.Context(), "some other session"))
}

// requireHeld requires that a session is held back: a Sync of all sessions names it and
// succeeds, and a Sync of it alone fails.
func (r *testDevice) requireHeld(id string) {
	r.t.Helper()
	held := r.sync().Held
	require.True(r.t, slices.ContainsFunc(held, func(x Exception) bool { return x.SessionID == id && errors.Is(x.Err, ErrHeld) }), held)
	_, err := r.Sync(r.t.Context(), id)
	require.ErrorIs(r.t, err, ErrHeld)
	require.Equal(r.t, Blocked, r.state(id).State)
	require.ErrorIs(r.t, r.state(id).Err, ErrHeld)
}

func (r *testDevice) setMember(id, name string, value any) {
	r.t.Helper()
	_, err := r.UpdateMetadata(r.t.Context(), id, func(md *sessionstore.Metadata) error { return md.Set(name, value) })
	require.NoError(r.t, err)
}

// requireNoTrace requires that no document holds any of the texts, nor what a new device
// without rules gets.
func (c *cloud) requireNoTrace(t *testing.T, texts ...string) {
	t.Helper()
	var all strings.Builder
	all.WriteString(c.plain(t))
	reader := c.device(t, "reader")
	reader.pull()
	for _, id := range reader.ids() {
		require.NotEmpty(t, reader.texts(id))
		all.WriteString(reader.file(id, "transcript.jsonl") + reader.file(id, "metadata.json"))
	}
	require.NoError(t, reader.Close())
	for _, text := range texts {
		require.NotContains(t, all.String(), text)
	}
}

// TestRulesFollowLineage keeps a session by its name, its id or by KeepLocal. Its
// descendants stay, too, also after it and the state of the process are gone, and
// leave no trace.
func TestRulesFollowLineage(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(*testDevice) func(*Options){
		"name": func(d *testDevice) func(*Options) {
			d.setMember("ancestor", "name", "Tax 2026")
			return func(o *Options) { o.Private = []string{"Tax *"} }
		},
		"id": func(*testDevice) func(*Options) { return func(o *Options) { o.Private = []string{"ancest*"} } },
		"local only": func(d *testDevice) func(*Options) {
			require.NoError(d.t, d.KeepLocal(d.t.Context(), "ancestor"))
			return func(*Options) {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("ancestor", "first text")
			edit := keep(a)
			a.child("kid", "ancestor")
			a.child("grandkid", "kid")
			a = c.reopened(t, a, "a", edit)
			require.Zero(t, a.sync().Pushed)
			for _, id := range []string{"ancestor", "kid", "grandkid"} {
				require.Equal(t, Local, a.state(id).State, id)
			}
			require.NoError(t, a.Delete(t.Context(), "ancestor"))
			require.NoError(t, a.Delete(t.Context(), "kid"))
			a.say("grandkid", "more")
			a = c.reopened(t, a, "a")
			require.Zero(t, a.sync().Pushed)
			a.child("late", "kid")
			require.Zero(t, a.sync().Pushed, "the verdict on a session outlives it")
			require.Equal(t, Local, a.state("late").State)
			require.Empty(t, c.documents())

			require.NoError(t, a.Release(t.Context(), "grandkid"))
			require.Equal(t, 1, a.sync().Pushed)
			c.requireNoTrace(t, "ancestor", "Tax", `"kid`, `\"kid`, "text of kid", "late")
			require.Contains(t, a.file("grandkid", "metadata.json"), `"kid"`)
			require.Zero(t, a.sync().Pushed)
		})
	}
}

// TestLineageIsJudgedAnew lets an ancestor leave after all.
func TestLineageIsJudgedAnew(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	require.NoError(t, a.KeepLocal(t.Context(), "p"))
	a.say("p", "one")
	a.child("kid", "p")
	require.Zero(t, a.sync().Pushed)
	require.NoError(t, a.Release(t.Context(), "p"))
	require.Equal(t, 2, a.sync().Pushed)
	b := c.device(t, "b")
	b.pull("kid")
	b.say("kid", "more")
	require.Equal(t, 1, b.sync().Pushed, "its parent is in the cloud alone")
}

// TestUnknownIsHeldBack: what nobody can judge is not sent, and Status says so.
func TestUnknownIsHeldBack(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.ruled()
	a.child("imported", "elsewhere")
	a.requireHeld("imported")
	require.Empty(t, c.documents())
	require.NoError(t, a.Release(t.Context(), "imported"))
	require.Equal(t, 1, a.sync().Pushed)
	c.requireNoTrace(t, "elsewhere")

	a.say("torn", "one")
	require.NoError(t, os.WriteFile(filepath.Join(a.Dir(), "torn", "metadata.json"), []byte(`{"name": "Tax`), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), "torn", "metadata.json.backup")))
	a.requireHeld("torn")
	c.requireNoTrace(t, "torn")
	a.put("torn", "metadata.json", `{"name": "Shopping"}`)
	require.Equal(t, 1, a.sync().Pushed)
}

// TestHeldSessionsAskNothing: sessions that wait for a parent make no request in the
// background. When another device has sent the parent, they are sent.
func TestHeldSessionsAskNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background, func(o *Options) { o.Background.Interval = time.Hour })
		a.ruled()
		for i := range 5 {
			a.child(fmt.Sprint("child", i), "parent")
		}
		time.Sleep(10 * time.Minute)
		require.Equal(t, Blocked, a.state("child0").State)
		c.ResetCounters()
		time.Sleep(49 * time.Minute)
		require.Zero(t, c.Counters().Total.Requests)

		b := c.device(t, "b")
		b.say("parent", "one")
		require.Equal(t, 1, b.sync().Pushed)
		time.Sleep(2 * time.Hour)
		for i := range 5 {
			require.Equal(t, UpToDate, a.state(fmt.Sprint("child", i)).State)
		}
	})
}

// TestLocalOnlyReachesRunningPrograms: another store of the directory has it open.
func TestLocalOnlyReachesRunningPrograms(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	app := c.device(t, "a")
	app.say("other", "x")
	require.Equal(t, 1, app.sync().Pushed)
	tool := c.deviceAt(t, app.Dir(), "a", func(o *Options) { o.Private = []string{"secret-*"} })
	require.NoError(t, tool.KeepLocal(t.Context(), "mine"))
	app.say("mine", "x")
	app.say("secret-1", "x")
	require.Zero(t, app.sync().Pushed)
}

// TestRedactionIsRemembered: what was redacted once goes through rules in every
// program that opens the directory, or does not leave.
func TestRedactionIsRemembered(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	early := c.device(t, "a")
	app := c.deviceAt(t, early.Dir(), "a", func(o *Options) { o.Redact = Secrets() })
	app.say("s", "the key is "+secret)
	_, err := early.Sync(t.Context())
	require.ErrorIs(t, err, ErrRedaction, "it was open before the rules were")
	require.Equal(t, Blocked, early.state("s").State)
	tool := c.deviceAt(t, app.Dir(), "a")
	require.Equal(t, 1, tool.sync().Pushed)
	tool.say("s", secret+" again")
	require.Equal(t, 1, tool.sync().Pushed)
	c.requireNoTrace(t, secret)

	b := c.device(t, "b")
	require.Equal(t, 1, b.pull().Pulled)
	b.say("s", secret+" of b")
	_, err = b.Sync(t.Context())
	require.ErrorIs(t, err, ErrRedaction)
	require.Equal(t, Blocked, b.state("s").State)
	c.requireNoTrace(t, secret)
	b = c.reopened(t, b, "b", func(o *Options) { o.Redact = Secrets() })
	require.Equal(t, 1, b.sync().Pushed)
	c.requireNoTrace(t, secret)

	requireClosed(t, app.Store)
	app = c.reopened(t, tool, "a", func(o *Options) { o.Redact = Exact() })
	app.say("fresh", "nothing secret")
	require.Equal(t, 1, app.sync("fresh").Pushed)
	require.NoError(t, os.WriteFile(filepath.Join(app.Dir(), ".sessionstore", "sync", "redaction.json"), []byte("{"), 0o600))
	app.say("fresh", "more")
	_, err = app.Sync(t.Context(), "fresh")
	require.ErrorIs(t, err, ErrRedaction, "nothing leaves by mistake")
}

// TestOwnRulesAreRemembered: rules of a program's own hold back what others would send.
func TestOwnRulesAreRemembered(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", under(1))
	a.say("s", "apple")
	for _, other := range []Redactor{nil, Secrets()} {
		tool := c.deviceAt(t, a.Dir(), "a", func(o *Options) { o.Redact = other })
		_, err := tool.Sync(t.Context())
		require.ErrorIs(t, err, ErrRedaction)
		require.ErrorIs(t, tool.state("s").Err, ErrRedaction)
		require.NoError(t, tool.Close())
	}
	require.Empty(t, c.documents())
	require.Equal(t, 1, a.sync().Pushed)
	c.requireNoTrace(t, "apple")
}

// TestToolBesideApp has a tool in a process of its own, without options, send the
// sessions of a directory that an app with rules has open.
func TestToolBesideApp(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	c := newCloud(t, nil)
	app := c.device(t, "a", func(o *Options) { o.Redact, o.Private = Secrets(), []string{"private-*"} })
	require.NoError(t, app.KeepLocal(t.Context(), "mine"))
	app.say("open", "the key is "+secret)
	app.say("private-1", "text of private-1")
	app.child("kid", "private-1")
	app.say("mine", "text of mine")
	app.child("branch", "mine")
	c.serve(t, c).by("a", "sync").finish(t, app.Dir())
	require.NotEmpty(t, c.documents())
	c.requireNoTrace(t, secret, "private-1", "kid", "mine", "branch")
	require.Contains(t, c.headOf(t, app.engine.SID("open")).Redaction, "secrets/")
	require.Equal(t, []string{"the key is " + secret}, app.texts("open"))
}
