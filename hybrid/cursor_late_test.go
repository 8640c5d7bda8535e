package hybrid

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// lateList stores while it lists: of what is stored meanwhile the list has what came last.
type lateList struct {
	*memremote.Remote
	meanwhile func()
	lacks     string
}

func (l *lateList) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	if l.meanwhile == nil || part[0] != 'u' {
		return l.Remote.List(ctx, part, q)
	}
	return func(yield func(remote.Object, error) bool) {
		l.meanwhile()
		l.meanwhile = nil
		for o, err := range l.Remote.List(ctx, part, q) {
			if o.Name != l.lacks && !yield(o, err) {
				return
			}
		}
	}
}

// TestListsLackWhatIsStoredMeanwhile: a list of the catalogue lacks an entry that is stored while
// it is made, and has one that is stored later. The next list has both.
func TestListsLackWhatIsStoredMeanwhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	a, b := inMemory(t, c, "a"), inMemory(t, c, "b")
	a.say("zero", "0")
	a.sync()
	slow := &lateList{Remote: c, lacks: a.engine.SID("one")}
	slow.meanwhile = func() {
		for _, id := range []string{"one", "two"} {
			now = now.Add(2 * time.Second)
			a.say(id, id)
			a.sync(id)
		}
	}
	b.engine.Remote = slow
	for range 2 {
		now = now.Add(time.Minute)
		_, err := b.Pull(t.Context())
		require.NoError(t, err)
	}
	require.True(t, b.Exists("two"))
	require.True(t, b.Exists("one"), "what a list lacked is never listed")
}

// completeRemote is a remote that says before which time its lists are complete.
type completeRemote struct {
	*memremote.Remote
	complete time.Time
}

func (r *completeRemote) Info(ctx context.Context) (remote.Info, error) {
	info, err := r.Remote.Info(ctx)
	info.Complete = r.complete
	return info, err
}

// TestEntryShowsHoursLater: where a remote says that its lists are not complete for hours,
// an entry with a time of hours ago is found when it shows.
func TestEntryShowsHoursLater(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	now := began
	c := &memremote.Remote{Now: func() time.Time { return now }}
	a, b := inMemory(t, c, "a"), inMemory(t, c, "b")
	b.engine.Remote = &completeRemote{c, began}
	for _, id := range []string{"one", "two", "three"} {
		now = now.Add(2 * time.Hour)
		a.say(id, id)
		a.sync(id)
		_, err := b.Pull(t.Context())
		require.NoError(t, err)
	}
	now = began.Add(time.Minute) // its transaction ends now
	a.say("late", "late")
	a.sync("late")
	now = began.Add(7 * time.Hour)
	_, err := b.Pull(t.Context())
	require.NoError(t, err)
	require.True(t, b.Exists("late"))
}

// TestNextListBeginsNoLater: where lists have been incomplete since a time before the last
// list's beginning, the next list begins at the same time, however often that happens.
func TestNextListBeginsNoLater(t *testing.T) {
	t.Parallel()
	at := replica.Cursor{Since: 10_000}
	for range 100 {
		at.List, at.New = 10_000, 90_000
		at = after(at, true, time.Unix(90_000, 0))
	}
	require.EqualValues(t, 10_000, at.Since)
}
