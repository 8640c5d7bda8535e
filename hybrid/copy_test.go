package hybrid

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// at opens a device of a remote.
func at(t *testing.T, r remote.Remote, dir, name string) *testDevice {
	t.Helper()
	s, err := open(t.Context(), dir, &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: r, Project: "demo", User: "ada", Device: name, Manual: true,
	}, nil)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	return &testDevice{s, t}
}

// filled returns a remote with a session that has former heads, a branch, a file and the
// logs of two devices, one that was removed, and one with a large line.
func filled(t *testing.T) (*memremote.Remote, *testDevice) {
	r := &memremote.Remote{}
	a, b := at(t, r, filepath.Join(t.TempDir(), "a"), "a"), at(t, r, filepath.Join(t.TempDir(), "b"), "b")
	a.say("s", "one", "two", "three")
	a.appendTo("s", "events.jsonl", timedEvents("s", 0, 12))
	a.put("s", "config.md", "config")
	a.say("gone", "secret")
	a.say("large", "one")
	a.put("large", "config.md", noise(3<<20))
	a.sync()
	b.pull()
	a.cutTo("s", 1)
	a.say("s", "a's way")
	a.sync()
	b.say("s", "b's way")
	b.appendTo("s", "events.jsonl", timedEvents("s", 12, 14))
	b.sync()
	a.sync()
	require.NoError(t, a.Remove(t.Context(), "gone"))
	return r, a
}

// sameThere compares what two remotes return for a session.
func sameThere(t *testing.T, from, to remote.Remote) {
	t.Helper()
	one, two := at(t, from, filepath.Join(t.TempDir(), "x"), "x"), at(t, to, filepath.Join(t.TempDir(), "y"), "y")
	one.pull()
	two.pull()
	require.Equal(t, one.ids(), two.ids())
	for _, id := range one.ids() {
		require.Equal(t, one.texts(id), two.texts(id))
		hs, err := one.Histories(t.Context(), id)
		require.NoError(t, err)
		others, err := two.Histories(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, hs, others)
		report, err := two.Check(t.Context(), id, nil)
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		logs, err := one.Logs(t.Context(), id)
		require.NoError(t, err)
		others2, err := two.Logs(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, others2, len(logs))
	}
	listed, err := one.Remote(t.Context())
	require.NoError(t, err)
	others, err := two.Remote(t.Context())
	require.NoError(t, err)
	require.Equal(t, listed, others)
}

func TestCopy(t *testing.T) {
	t.Parallel()
	from, a := filled(t)
	to := &memremote.Remote{}
	sum, err := Copy(t.Context(), from, to, "ada", "demo", nil)
	require.NoError(t, err)
	require.Equal(t, sum.Sessions, sum.Copied)
	sameThere(t, from, to)

	again, err := Copy(t.Context(), from, to, "ada", "demo", nil)
	require.NoError(t, err)
	require.Zero(t, again.Copied+again.Objects)

	// What is new is copied, and the same device goes on in the copy.
	a.say("s", "more")
	a.say("late", "one")
	a.sync()
	again, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.NoError(t, err)
	require.Equal(t, 2, again.Copied)
	sameThere(t, from, to)
	requireClosed(t, a.Store)
	moved := at(t, to, a.Dir(), "a")
	got := moved.sync()
	require.Zero(t, got.Pushed)
	require.Empty(t, got.Conflicts)
	moved.say("s", "in the copy")
	moved.say("gone", "here again") // it stays removed
	_, err = moved.Sync(t.Context())
	require.ErrorIs(t, err, ErrRemoved)

	// What devices changed there is not copied over, and what is new beside it is copied.
	c := at(t, from, filepath.Join(t.TempDir(), "c"), "c")
	c.pull()
	c.say("s", "in the source")
	c.say("other", "one")
	c.sync()
	again, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.ErrorIs(t, err, ErrElsewhere)
	require.Equal(t, 1, again.Copied)
	require.ErrorContains(t, err, `copy session "s": the other remote has`)

	// A session that is removed in the source is removed from its copy, with its text.
	require.NoError(t, c.Remove(t.Context(), "large"))
	_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.ErrorIs(t, err, ErrElsewhere)
	// And one that is removed in the copy does not come back, and leaves no mark.
	require.NoError(t, moved.Remove(t.Context(), "late"))
	_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.ErrorContains(t, err, `copy session "late": the other remote has`)
	for _, id := range []string{"large", "late"} {
		n := 0
		for _, err := range to.List(t.Context(), "s-"+moved.engine.SID(id), remote.Query{}) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 1, n, id)
	}
	_, err = Copy(t.Context(), from, from, "ada", "demo", nil)
	require.ErrorContains(t, err, "are one")
}

// TestCopyGoesIntoAnEmptyProject copies to a remote with another session, which devices sent, and
// after its removal.
func TestCopyGoesIntoAnEmptyProject(t *testing.T) {
	t.Parallel()
	from, _ := filled(t)
	to := &memremote.Remote{}
	d := at(t, to, filepath.Join(t.TempDir(), "d"), "d")
	d.say("other", "one")
	d.sync()
	sum, err := Copy(t.Context(), from, to, "ada", "demo", nil)
	require.ErrorIs(t, err, ErrElsewhere)
	require.ErrorContains(t, err, `copy session "other": the other remote has`)
	require.Zero(t, sum.Copied+sum.Objects)
	d.pull()
	require.Equal(t, []string{"other"}, d.ids())
	require.NoError(t, d.Remove(t.Context(), "other"))
	_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.NoError(t, err)
}

// TestCopySkips leaves sessions out of a copy: no object of them gets into the other remote.
func TestCopySkips(t *testing.T) {
	t.Parallel()
	from, a := filled(t)
	to := &memremote.Remote{}
	for range 2 {
		sum, err := Copy(t.Context(), from, to, "ada", "demo", &CopyOptions{Skip: func(id string) bool { return id == "s" || id == "gone" }})
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"s", "gone"}, sum.Skipped)
		for _, id := range sum.Skipped {
			for o, err := range to.List(t.Context(), "s-"+a.engine.SID(id), remote.Query{}) {
				require.NoError(t, err)
				require.Empty(testenv.Lost(t), o.Name)
			}
		}
	}
	d := at(t, to, filepath.Join(t.TempDir(), "d"), "d")
	d.pull()
	require.NotContains(t, d.ids(), "s")
	require.Contains(t, d.ids(), "large")
}

// TestCopyIsKilled ends a copy before some of its requests, in the soak before each, and goes on with another one.
func TestCopyIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source, a := filled(t)
		requireClosed(t, a.Store)
		killed := errors.New("killed")
		step := int64(6)
		if testenv.Long() {
			step = 1
		}
		for end := int64(0); ; end += step {
			from, to := source.Clone(), &memremote.Remote{}
			ctx, cancel := context.WithCancelCause(t.Context())
			var requests atomic.Int64
			count := func() error {
				if requests.Add(1) > end {
					cancel(killed)
					return killed
				}
				return nil
			}
			from.Refuse, to.Refuse = count, count
			_, err := Copy(ctx, from, to, "ada", "demo", nil)
			cancel(nil)
			from.Refuse, to.Refuse = nil, nil
			if err == nil {
				require.Greater(t, end, int64(50))
				return
			}
			require.ErrorIs(t, err, killed)
			if end%7 == 0 { // the source goes on
				d := at(t, from, filepath.Join(t.TempDir(), fmt.Sprint("d", end)), "d")
				d.pull()
				d.say("s", fmt.Sprint("after ", end))
				d.sync()
			}
			time.Sleep(time.Hour)
			_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
			require.NoError(t, err, end)
			sameThere(t, from, to)
			if end%5 == 0 { // and so does the copy
				d := at(t, to, filepath.Join(t.TempDir(), fmt.Sprint("e", end)), "e")
				d.pull()
				d.say("s", fmt.Sprint("in the copy after ", end))
				d.sync()
				sum, err := Copy(t.Context(), from, to, "ada", "demo", nil)
				require.ErrorIs(t, err, ErrElsewhere, end)
				require.Zero(t, sum.Copied)
			}
		}
	})
}

// hooked calls before ahead of each request for an object.
type hooked struct {
	remote.Remote
	before func(name string)
}

func (h *hooked) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	h.before(name)
	return h.Remote.Get(ctx, part, name, known)
}

func (h *hooked) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	h.before(part)
	return h.Remote.List(ctx, part, q)
}

// TestCopyOfWhatChanges prunes, cuts and adds to the source ahead of each of the requests
// of a copy to it.
func TestCopyOfWhatChanges(t *testing.T) {
	t.Parallel()
	step := 5
	if testenv.Long() {
		step = 1
	}
	for request := 1; ; request += step {
		source, a := filled(t)
		requireClosed(t, a.Store)
		to, n, done := &memremote.Remote{}, atomic.Int64{}, false
		from := &hooked{Remote: source}
		from.before = func(string) {
			if n.Add(1) != int64(request) {
				return
			}
			d := at(t, source, filepath.Join(t.TempDir(), "d"), "d")
			d.pull()
			d.cutTo("s", 1)
			d.say("s", "another way")
			d.sync()
			_, err := d.Prune(t.Context(), &PruneOptions{Grace: time.Nanosecond, HistoryRetention: time.Nanosecond, All: true})
			require.NoError(t, err)
			done = true
		}
		_, err := Copy(t.Context(), from, to, "ada", "demo", nil)
		require.NoError(t, err, request)
		if !done {
			require.Greater(t, request, 10)
			return
		}
		_, err = Copy(t.Context(), from, to, "ada", "demo", nil) // what changed behind the last look
		require.NoError(t, err, request)
		sameThere(t, source, to)
	}
}

// TestRemoteIsAnother takes a device from a remote to its copy, back to the remote, whose
// heads are older, and to an empty one. None of them counts as a replica that lags behind,
// or as a container that vanished, and what was removed is sent nowhere.
func TestRemoteIsAnother(t *testing.T) {
	t.Parallel()
	from, a := filled(t)
	to, empty := &memremote.Remote{}, &memremote.Remote{}
	a.say("gone", "and again")
	_, err := a.Sync(t.Context(), "gone")
	require.ErrorIs(t, err, ErrRemoved)
	_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.NoError(t, err)
	requireClosed(t, a.Store)
	for i, r := range []remote.Remote{to, from, to, empty} {
		d := at(t, r, a.Dir(), "a")
		texts := append(d.texts("s"), fmt.Sprint("turn ", i))
		d.say("s", fmt.Sprint("turn ", i))
		d.appendTo("s", "events.jsonl", timedEvents("s", 20+i, 21+i))
		sent, err := d.Sync(t.Context(), "s", "large")
		require.NoError(t, err)
		require.Empty(t, sent.Conflicts)
		require.False(t, d.engine.doubted.Load())
		require.Equal(t, texts, d.texts("s"))
		when, where := LastSync(d.Dir())
		info, err := r.Info(t.Context())
		require.NoError(t, err)
		require.Less(t, time.Since(when), time.Minute)
		require.Equal(t, info.Identity, where)
		_, err = d.Sync(t.Context(), "gone")
		require.ErrorIs(t, err, ErrRemoved)
		requireClosed(t, d.Store)
		b := at(t, r, filepath.Join(t.TempDir(), "b"), "b")
		b.pull()
		require.Equal(t, texts, b.texts("s"))
		require.NotContains(t, b.ids(), "gone")
		require.Equal(t, d.file("s", "config.md"), b.file("s", "config.md"))
	}
}

// parted stores the objects of a commit, and is killed ahead of the swap.
type parted struct{ remote.Remote }

func (p *parted) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if swap == nil || len(objects) == 0 {
		return p.Remote.Commit(ctx, part, objects, swap)
	}
	_, err := p.Remote.Commit(ctx, part, objects, nil)
	return "", errors.Join(err, errors.New("killed"))
}

// TestCopyIsKilledAheadOfHeads ends a copy between the mark of a head and the head, in a
// remote that stores one after the other. The mark stays beside the head of the next copy.
func TestCopyIsKilledAheadOfHeads(t *testing.T) {
	t.Parallel()
	from, _ := filled(t)
	to := &memremote.Remote{}
	_, err := Copy(t.Context(), from, &parted{to}, "ada", "demo", nil)
	require.ErrorContains(t, err, "killed")
	_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
	require.NoError(t, err)
	d := at(t, to, filepath.Join(t.TempDir(), "d"), "d")
	d.pull()
	d.say("s", "in the copy")
	d.sync()
	sum, err := Copy(t.Context(), from, to, "ada", "demo", nil)
	require.ErrorIs(t, err, ErrElsewhere)
	require.Zero(t, sum.Copied)
}

// TestCopyOfChangesIsKilledAheadOfHeads is the same where the other remote has a former
// head. The next copy goes on; but where devices went on with the former head before that,
// the two remotes have two histories, although the mark is there.
func TestCopyOfChangesIsKilledAheadOfHeads(t *testing.T) {
	t.Parallel()
	for _, between := range []bool{false, true} {
		from, a := filled(t)
		to := &memremote.Remote{}
		_, err := Copy(t.Context(), from, to, "ada", "demo", nil)
		require.NoError(t, err)
		a.say("s", "later in the source")
		a.sync()
		_, err = Copy(t.Context(), from, &parted{to}, "ada", "demo", nil)
		require.ErrorContains(t, err, "killed")
		if between {
			d := at(t, to, filepath.Join(t.TempDir(), "d"), "d")
			d.pull()
			d.say("s", "later in the copy")
			d.sync()
		}
		sum, err := Copy(t.Context(), from, to, "ada", "demo", nil)
		if between {
			require.ErrorIs(t, err, ErrElsewhere)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, sum.Copied)
		sameThere(t, from, to)
	}
}
