package hybrid

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// timedEvents are events of a session before its first answer, as programs write
// them: some are long.
func timedEvents(session string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		size := 2 << 10
		if i%10 == 9 {
			size = 20 << 10
		}
		fmt.Fprintf(&b, "{\"ts\": \"2026-11-20T10:00:00.000+00:00\", \"event\": \"x\", \"session_id\": %q, \"data\": {\"n\": %d, \"text\": %q}}\n", session, i, noise(size))
	}
	return b.String()
}

// parentWithEvents makes a session with a log of some pushes, and a turn.
func (r *testDevice) parentWithEvents(pushes int) {
	r.t.Helper()
	r.say("parent", "question", "answer")
	for i := range pushes {
		r.appendTo("parent", "events.jsonl", timedEvents("parent", 20*i, 20*i+20))
		r.sync("parent")
	}
}

func (r *testDevice) fork(of string) string {
	r.t.Helper()
	forked, err := slice.Fork(r.t.Context(), r.Store.Store, of, &slice.ForkOptions{Events: true})
	require.NoError(r.t, err)
	return forked.ID
}

// copied makes a session with the files of another, byte for byte.
func (r *testDevice) copied(of string) string {
	r.t.Helper()
	r.say("copy", "question", "answer")
	r.put("copy", "events.jsonl", r.file(of, "events.jsonl"))
	_, err := r.UpdateMetadata(r.t.Context(), "copy", func(md *sessionstore.Metadata) error { return md.Set("parent_id", of) })
	require.NoError(r.t, err)
	return "copy"
}

// reads requires a new device to get a session, and nothing else, as r has it.
func (c *cloud) reads(t *testing.T, r *testDevice, id string) *testDevice {
	t.Helper()
	other := c.device(t, fmt.Sprint("new", t.Name(), len(t.TempDir())))
	got := other.pull(id)
	require.Empty(t, got.Partial)
	require.Equal(t, []string{id}, other.ids())
	require.Equal(t, r.file(id, "events.jsonl"), other.file(id, "events.jsonl"))
	require.Equal(t, r.texts(id), other.texts(id))
	return other
}

// TestForkIsSentWhole forks a session with a log, and pulls the fork alone, also after its
// parent was pruned and removed: it needs nothing of it. So does a fork of the fork.
func TestForkIsSentWhole(t *testing.T) {
	t.Parallel()
	for name, fork := range map[string]func(r *testDevice, of string) string{"forked": (*testDevice).fork, "copied": (*testDevice).copied} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { isSentWhole(t, fork) })
		})
	}
}

func isSentWhole(t *testing.T, fork func(r *testDevice, of string) string) {
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.parentWithEvents(10)
	whole := len(a.file("parent", "events.jsonl"))
	child := fork(a, "parent")
	require.GreaterOrEqual(t, len(a.file(child, "events.jsonl")), whole)
	require.Equal(t, 1, a.sync(child).Pushed)
	require.Zero(t, a.sync(child).Pushed)
	a.appendTo(child, "events.jsonl", timedEvents(child, 200, 203))
	require.Less(t, a.sync(child).Bytes, int64(20<<10))
	rep, err := a.Check(t.Context(), child, nil)
	require.NoError(t, err)
	require.EqualValues(t, 2+203, rep.Lines)

	b := c.reads(t, a, child)
	a.appendTo(child, "events.jsonl", timedEvents(child, 203, 204))
	a.sync(child)
	c.ResetCounters()
	b.pull(child)
	require.LessOrEqual(t, c.Counters().Total.Charge, 30.0)
	require.True(t, strings.HasSuffix(a.file(child, "events.jsonl"), read(t, b.otherLog(child, "events.jsonl"))))

	grand := a.fork(child)
	a.sync(grand)
	require.NoError(t, a.Remove(t.Context(), "parent"))
	time.Sleep(2 * time.Second)
	a.prune(atOnceOf())
	time.Sleep(2 * time.Second)
	a.prune(atOnceOf())
	c.reads(t, a, child)
	c.reads(t, a, grand)
	require.NoError(t, a.Remove(t.Context(), child))
	c.reads(t, a, grand)
	rep, err = a.Check(t.Context(), grand, nil)
	require.NoError(t, err)
	require.EqualValues(t, 2+204, rep.Lines)
}

// TestForkOfAnotherDevicesLog forks a session where its log came from.
func TestForkOfAnotherDevicesLog(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.parentWithEvents(5)
	b.pull()
	b.appendTo("parent", "events.jsonl", timedEvents("parent", 100, 103))
	b.sync()
	child := b.fork("parent")
	b.sync(child)
	c.reads(t, b, child)
}

// TestForkOfAConflictCopy: the copy that a divergence leaves is a session of its own, and
// so is its fork.
func TestForkOfAConflictCopy(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one"+noise(6<<10), "two")
	a.sync()
	b.pull()
	a.say("s", "three")
	a.sync()
	b.say("s", "another three")
	got := b.sync()
	require.Len(t, got.Conflicts, 1)
	kept := got.Conflicts[0].KeptAs
	b.sync()
	fork := b.fork(kept)
	b.say(fork, "more")
	b.sync()
	require.NoError(t, a.Remove(t.Context(), "s", kept))
	fresh := c.device(t, "fresh")
	fresh.pull()
	require.Equal(t, []string{fork}, fresh.ids())
	require.Equal(t, b.texts(fork), fresh.texts(fork))
	a.pull()
	require.Equal(t, b.texts(fork), a.texts(fork))
}

// TestForkBeforeItsParentIsSent sends a fork whose parent the cloud does not have. The
// parent may come later, or never.
func TestForkBeforeItsParentIsSent(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("parent", "question", "answer")
	a.appendTo("parent", "events.jsonl", timedEvents("parent", 0, 20))
	child := a.fork("parent")
	a.sync(child)
	c.reads(t, a, child)
	family := a.family("parent")
	require.Equal(t, []string{"parent", child}, family)
	a.sync("parent")
	c.reads(t, a, "parent")
	c.reads(t, a, child)
	require.NoError(t, a.Delete(t.Context(), "parent"))
	require.Zero(t, a.sync(child).Pushed)
}

// TestForkOnTwoDevices: each device forks the session that both have, and goes on.
func TestForkOnTwoDevices(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.parentWithEvents(2)
	b.pull()
	one, two := a.fork("parent"), b.fork("parent")
	a.say(one, "a goes on")
	b.say(two, "b goes on")
	a.sync()
	b.sync()
	require.NoError(t, a.Remove(t.Context(), "parent"))
	c.reads(t, a, one)
	c.reads(t, b, two)
	for _, d := range []*testDevice{a, b} {
		d.pull()
		family := d.family(one)
		require.ElementsMatch(t, []string{one, two}, family)
	}
	require.Equal(t, a.texts(one), b.texts(one))
	require.Equal(t, b.texts(two), a.texts(two))
}

// TestParentGoesWhileAForkIsSent removes the parent between two requests of the fork's
// first upload: of some pairs, with TEST_LONG=all of each.
func TestParentGoesWhileAForkIsSent(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(d *testDevice) error{
		"removed": func(d *testDevice) error { return d.Remove(d.t.Context(), "parent") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := testenv.Rand(t)
				for n := 1; ; n += sparsely(r, 1) {
					c := newCloud(t, nil)
					w := &tripwire{}
					a, b := c.device(t, fmt.Sprint("a", n), c.over(t, w)), c.device(t, fmt.Sprint("b", n))
					a.say("parent", noise(1200<<10), "MARK answer "+noise(1200<<10))
					a.appendTo("parent", "events.jsonl", timedEvents("parent", 0, 20))
					a.sync()
					child := a.fork("parent")
					tripped := false
					w.at, w.trip = w.count()+n, func() { tripped = true; require.NoError(t, remove(b)) }
					a.sync(child)
					c.reads(t, a, child)
					if !tripped {
						require.Greater(t, n, 3)
						return
					}
					_, err := b.Pull(t.Context(), "parent")
					require.ErrorIs(t, err, ErrRemoved)
					require.NoError(t, b.Remove(t.Context(), child))
					require.Empty(t, c.stored(t, "MARK"))
				}
			})
		})
	}
}

// TestForkWhoseLogIsCut replaces the log of a fork by its first line, puts it back, and
// replaces it by another log. The cloud has each time what is here.
func TestForkWhoseLogIsCut(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.parentWithEvents(3)
	child := a.fork("parent")
	a.sync()
	whole := a.file(child, "events.jsonl")
	a.put(child, "events.jsonl", whole[:strings.Index(whole, "\n")+1])
	require.Equal(t, 1, a.sync(child).Pushed)
	c.reads(t, a, child)
	a.put(child, "events.jsonl", whole)
	require.Equal(t, 1, a.sync(child).Pushed)
	c.reads(t, a, child)
	a.put(child, "events.jsonl", events("other", 0, 3))
	a.sync(child)
	rep, err := a.Check(t.Context(), child, nil)
	require.NoError(t, err)
	require.EqualValues(t, 2+3, rep.Lines)
}

// TestForkUnderOtherRules: a fork leaves by the rules of the day on which it is sent, also
// where its parent left by weaker ones. What rules took out on another device does not come
// back by a fork, and a program without the rules of the directory sends none.
func TestForkUnderOtherRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a", under(1)), c.device(t, "b")
	a.say("s", "apple pear plum "+noise(6<<10), "apple")
	a.appendTo("s", "events.jsonl", "{\"event\": \"apple pear plum\"}\n")
	a.sync()
	require.Equal(t, []string{"pear", "plum"}, c.stored(t, "apple", "pear", "plum"))
	b.pull()
	a = c.reopened(t, a, "a", under(2))
	mine := a.fork("s")
	a.sync()
	require.NoError(t, a.Remove(t.Context(), "s"))
	require.Equal(t, []string{"plum"}, c.stored(t, "apple", "pear", "plum"))
	require.Contains(t, a.texts(mine)[0], "apple pear plum ")

	theirs := b.fork("s")
	b.sync(theirs)
	require.Equal(t, []string{"pear", "plum"}, c.stored(t, "apple", "pear", "plum"))
	a.pull(theirs)
	require.Equal(t, b.texts(theirs), a.texts(theirs), "as it came")

	a = c.reopened(t, a, "a", under(1))
	another := a.fork(mine)
	_, err := a.Sync(t.Context(), another)
	require.ErrorIs(t, err, ErrRedaction)
	require.Equal(t, []string{"pear", "plum"}, c.stored(t, "apple", "pear", "plum"))
}
