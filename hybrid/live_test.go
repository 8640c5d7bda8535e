package hybrid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// processFiles returns the files by which programs know of each other.
func (r *testDevice) processFiles() (names []string) {
	r.t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.Dir(), ".sessionstore", programsDir))
	require.NoError(r.t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestOtherPrograms has two programs in one directory, one of them with a
// background, and looks when what another device sent comes under the other.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do    func(t *testing.T, agent *testDevice) // what the other program does after it used the session
		wait  time.Duration                         // after that, before the session has followed
		stays bool
	}{
		"lives":                 {func(*testing.T, *testDevice) {}, 8 * time.Minute, true},
		"lives, ten minutes on": {func(*testing.T, *testDevice) {}, 12 * time.Minute, false},
		"goes on":               {func(t *testing.T, r *testDevice) { time.Sleep(9 * time.Minute); r.saveOne("t", "x"); r.refreshed("s") }, 8 * time.Minute, true},
		"has ended":             {func(t *testing.T, r *testDevice) { require.NoError(t, r.Close()) }, 2 * time.Minute, false},
		"has sent and ended":    {func(t *testing.T, r *testDevice) { r.sync(); require.NoError(t, r.Close()) }, 2 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				dir := filepath.Join(t.TempDir(), "sessions")
				a, watcher := c.device(t, "a"), c.deviceAt(t, dir, "b", background)
				o := &Options{Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "b", Manual: true}
				s, err := Open(t.Context(), dir, o)
				require.NoError(t, err)
				agent := &testDevice{s, t}
				defer func() { require.NoError(t, s.Close()) }()
				agent.saveNew("s", "one")
				agent.saveNew("t", "one")
				agent.sync()
				agent.saveOne("s", "two")
				agent.sync()
				a.refresh("s")
				a.saveOne("s", "from a")
				a.sync()
				tt.do(t, agent)
				time.Sleep(tt.wait)
				want := []string{"one", "two", "from a"}
				if tt.stays {
					want = want[:2]
				}
				require.Equal(t, want, watcher.texts("s"))
			})
		})
	}
}

// refreshed uses a session as Refresh does, whatever the cloud has.
func (r *testDevice) refreshed(id string) { r.engine.uses(id, false) }

// TestOtherToolsAreLeftAlone looks that the ten quiet minutes of what no program
// of this library wrote are not cut short by what one wrote before.
func TestOtherToolsAreLeftAlone(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	a, b := c.device(t, "a"), c.deviceAt(t, dir, "b")
	b.saveNew("s", "one")
	b.sync()
	a.refresh("s")
	a.saveOne("s", "from a")
	a.sync()
	m := b.message("a Python tool")
	tool := time.Now().Add(5 * time.Second)
	b.appendTo("s", "transcript.jsonl", string(m.AppendTo(nil))+"\n")
	require.NoError(t, os.Chtimes(filepath.Join(dir, "s", "transcript.jsonl"), tool, tool))
	_, err := b.Refresh(t.Context(), "s")
	require.ErrorIs(t, err, ErrDeferred)
	require.Equal(t, []string{"one", "a Python tool"}, b.texts("s"))
	require.NoError(t, b.Close())
	next := c.deviceAt(t, dir, "b")
	_, err = next.Refresh(t.Context(), "s")
	require.ErrorIs(t, err, ErrDeferred)
}

// TestClockWasSetBack looks at a session that another tool wrote while the clock was ahead:
// it waits no longer than one that was written on a right clock.
func TestClockWasSetBack(t *testing.T) {
	t.Parallel()
	r := &memremote.Remote{}
	dir := filepath.Join(t.TempDir(), "sessions")
	b := at(t, r, dir, "b")
	b.say("s", "one")
	b.sync()
	m := b.message("a Python tool")
	tool := time.Now().Add(5 * time.Second)
	b.appendTo("s", "transcript.jsonl", string(m.AppendTo(nil))+"\n")
	require.NoError(t, os.Chtimes(filepath.Join(dir, "s", "transcript.jsonl"), tool, tool))
	b.sync()
	require.NoError(t, b.Close())
	a := at(t, r, filepath.Join(t.TempDir(), "a"), "a")
	a.pull()
	a.say("s", "from a")
	a.sync()
	synctest.Test(t, func(t *testing.T) { // here the year is 2000
		b := at(t, r, dir, "b")
		_, err := b.Refresh(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, []string{"one", "a Python tool", "from a"}, b.texts("s"))
	})
}

// turnChild does one turn of a session in a process of its own, prints that it is
// done, and waits to be killed.
func turnChild(ctx context.Context, dir string, e errand) error {
	s, err := e.open(ctx, dir, &Options{Manual: true})
	if err != nil {
		return err
	}
	for _, text := range e.Calls {
		m, err := sessionstore.Text("user", text, time.Now())
		if err == nil {
			err = s.Append(ctx, "s", m)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
	fmt.Println("written")
	select {}
}

// TestKilledProgramIsNoStranger kills a process as soon as it has written, before
// anything of that was sent. What another device adds then comes at once, by a
// call and by the background.
func TestKilledProgramIsNoStranger(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	turn := c.serve(t, c)
	a, b := c.device(t, "a"), c.deviceAt(t, dir, "b", background, func(o *Options) { o.Background.Interval = 100 * time.Millisecond })
	spawn := func(text string) {
		child := turn.by("b", text).spawn(t, "turn", dir)
		_, ok := child.Line()
		require.True(t, ok)
		require.NotEmpty(t, b.processFiles())
		child.Kill()
	}
	spawn("one")
	want := []string{"one"}
	for i := range 4 {
		require.Eventually(t, func() bool {
			_, err := a.Pull(t.Context(), "s")
			return err == nil && len(a.texts("s")) == len(want)
		}, time.Minute, 50*time.Millisecond)
		text := fmt.Sprint("from a ", i)
		a.say("s", text)
		a.sync()
		want = append(want, text)
		require.Eventually(t, func() bool { return len(b.texts("s")) == len(want) }, time.Minute, 50*time.Millisecond, "the background follows")
		require.Len(t, b.processFiles(), 2, "only its own")
		text = fmt.Sprint("from b ", i)
		spawn(text)
		want = append(want, text)
	}
	require.Equal(t, want, b.texts("s"))
	require.Len(t, b.ids(), 1)

	// Now without a program that saw the process die.
	require.NoError(t, b.Close())
	a.refresh("s")
	for range 2 {
		child := turn.by("b", "unseen").spawn(t, "turn", dir)
		_, ok := child.Line()
		require.True(t, ok)
		child.Kill()
	}
	next := c.deviceAt(t, dir, "b")
	next.refresh("s")
	require.Empty(t, next.sync().Conflicts)
	a.refresh("s")
	a.say("s", "last")
	a.sync()
	next.refresh("s")
	require.Equal(t, a.texts("s"), next.texts("s"))
	require.Len(t, next.ids(), 1)
}
