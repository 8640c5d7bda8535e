package hybrid

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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

// TestForkSharesItsEvents forks a session with a log, and pulls the fork alone, also
// after its parent was pruned.
func TestForkSharesItsEvents(t *testing.T) {
	t.Parallel()
	for name, fork := range map[string]func(r *testDevice, of string) string{"forked": (*testDevice).fork, "copied": (*testDevice).copied} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { sharesItsEvents(t, fork) })
		})
	}
}

func sharesItsEvents(t *testing.T, fork func(r *testDevice, of string) string) {
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.parentWithEvents(10)
	whole := len(a.file("parent", "events.jsonl"))
	child := fork(a, "parent")
	require.GreaterOrEqual(t, len(a.file(child, "events.jsonl")), whole)
	got := a.sync(child)
	require.Less(t, got.Bytes, int64(whole/20))
	require.Zero(t, a.sync(child).Pushed)
	a.appendTo(child, "events.jsonl", timedEvents(child, 200, 203))
	require.Less(t, a.sync(child).Bytes, int64(20<<10))
	rep, err := a.Verify(t.Context(), child)
	require.NoError(t, err)
	require.EqualValues(t, 2+203, rep.Lines)

	b := c.reads(t, a, child)
	a.appendTo(child, "events.jsonl", timedEvents(child, 203, 204))
	a.sync(child)
	c.ResetCounters()
	b.pull(child)
	require.LessOrEqual(t, c.Counters().Total.Charge, 30.0)
	require.True(t, strings.HasSuffix(a.file(child, "events.jsonl"), read(t, b.otherLog(child, "events.jsonl"))))

	require.ErrorIs(t, a.DeleteRemote(t.Context(), "parent"), ErrShared)
	require.NotZero(t, a.prune(atOnceOf(), "parent").Merged)
	time.Sleep(2 * time.Second)
	require.NotZero(t, a.prune(atOnceOf(), "parent").Removed)
	a.prune(atOnceOf(), child)
	c.reads(t, a, child)

	grand := a.fork(child)
	require.Less(t, a.sync(grand).Bytes, int64(whole/20))
	a.prune(atOnceOf())
	c.reads(t, a, grand)
	require.ErrorIs(t, a.DeleteRemote(t.Context(), child), ErrShared)
	require.NoError(t, a.DeleteRemote(t.Context(), grand))
	require.NoError(t, a.DeleteRemote(t.Context(), child))
	require.NoError(t, a.DeleteRemote(t.Context(), "parent"))
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
	whole := len(b.file("parent", "events.jsonl"))
	child := b.fork("parent")
	require.Less(t, b.sync(child).Bytes, int64(whole/5))
	c.reads(t, b, child)
}

// TestForkWhoseLogIsCut replaces the log of a fork by its first lines, and puts it
// back: nothing is sent again. Another log is another stream.
func TestForkWhoseLogIsCut(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.parentWithEvents(3)
	child := a.fork("parent")
	a.sync()
	whole := a.file(child, "events.jsonl")
	a.put(child, "events.jsonl", whole[:strings.Index(whole, "\n")+1])
	require.Zero(t, a.sync(child).Pushed)
	a.put(child, "events.jsonl", whole)
	require.Zero(t, a.sync(child).Pushed)
	c.reads(t, a, child)
	a.put(child, "events.jsonl", events("other", 0, 3))
	a.sync(child)
	rep, err := a.Verify(t.Context(), child)
	require.NoError(t, err)
	require.EqualValues(t, 2+60+3, rep.Lines)
}

// TestForkWithAnotherPast forks where the parent's log in the cloud is another one
// than here.
func TestForkWithAnotherPast(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.parentWithEvents(3)
	a.put("parent", "events.jsonl", timedEvents("parent", 0, 30))
	child := a.fork("parent")
	require.Greater(t, a.sync(child).Bytes, int64(30<<10))
	c.reads(t, a, child)
}

// TestRepairOfAForksLog damages a document of the parent's log. The fork's device
// stores the lines again, with the fork.
func TestRepairOfAForksLog(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.parentWithEvents(3)
	child := a.fork("parent")
	a.appendTo(child, "events.jsonl", timedEvents(child, 60, 63))
	a.sync()
	require.NoError(t, a.Delete(t.Context(), "parent"))
	require.NotZero(t, c.harm(t, false, isEvents))
	_, err := a.Verify(t.Context(), child)
	require.ErrorIs(t, err, ErrDamaged)
	require.Len(t, c.device(t, "b").pull(child).Partial, 1)
	rep, err := a.Repair(t.Context(), child)
	require.NoError(t, err)
	require.Len(t, rep.Problems, 2, "what the parent has, and its own")
	rep, err = a.Verify(t.Context(), child)
	require.NoError(t, err)
	require.EqualValues(t, 2+63, rep.Lines)
	c.reads(t, a, child)
}
