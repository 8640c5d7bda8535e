package hybrid

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestOneBranchOfADivergence lets two devices write on for 15 rounds while they are
// diverged, since a program runs the session on one of them. Each sync there stores
// what is new of one branch. When the program ends, one session keeps it.
func TestOneBranchOfADivergence(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("grows", "one", "two")
	a.sync()
	b.pull()
	hold, err := b.Acquire(t.Context(), "grows", sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	mine := []string{"one", "two"}
	for i := range 15 {
		a.say("grows", fmt.Sprint("a", i))
		b.say("grows", fmt.Sprint("b", i))
		mine = append(mine, fmt.Sprint("b", i))
		a.sync("grows")
		b.sync("grows")
		require.Equal(t, Diverged, b.state("grows").Last)
		require.Empty(t, b.sync("grows").Conflicts, "it was told of")
		require.Equal(t, Diverged, b.state("grows").Last, "it still is")
		again := b.pull("grows")
		require.Len(t, again.Diverged, 1)
		require.Empty(t, again.Behind)
		require.Equal(t, 1, c.documents()[head.TypeHistory])
		found, err := a.Histories(t.Context(), "grows")
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, len(mine), found[0].Messages)
		require.Equal(t, 2, found[0].Common)
	}
	require.Len(t, b.ids(), 1)
	require.NoError(t, hold.Release())
	kept := b.sync("grows").Conflicts
	require.Len(t, kept, 1)
	require.Equal(t, mine, b.texts(kept[0].KeptAs))
	require.Equal(t, a.texts("grows"), b.texts("grows"))
	require.Equal(t, 1, c.documents()[head.TypeHistory])
	require.Len(t, b.ids(), 2)
	found, err := a.Histories(t.Context(), "grows")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, a.Restore(t.Context(), "grows", found[0]))
	require.Equal(t, mine, a.texts("grows"))
}

// TestOneCopyOfADivergence breaks each sync off when this device's line was kept
// but the other one could not be fetched, and lets the program write on. The session
// that keeps the line grows.
func TestOneCopyOfADivergence(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	mine := []string{"one", "two"}
	for i := range 15 {
		a.say("s", fmt.Sprint("a", i))
		b.say("s", fmt.Sprint("b", i))
		mine = append(mine, fmt.Sprint("b", i))
		a.sync("s")
		c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if r.Op == cosmostest.OpRead && !strings.HasSuffix(r.ID, "-head") {
				return cosmostest.Refuse(http.StatusBadRequest, 0)
			}
			return cosmostest.Fault{}
		}))
		_, err := b.Sync(t.Context(), "s")
		c.Inject(nil)
		require.Error(t, err)
		require.Equal(t, mine, b.texts("s"))
		require.Len(t, b.ids(), 2)
		require.Equal(t, 1, c.documents()[head.TypeHistory])
	}
	kept := b.sync("s").Conflicts
	require.Len(t, kept, 1)
	require.Equal(t, mine, b.texts(kept[0].KeptAs))
	md, err := b.Metadata(t.Context(), kept[0].KeptAs)
	require.NoError(t, err)
	turns, _ := md.Int("turn_count")
	require.Equal(t, 16, turns)
	require.Equal(t, a.texts("s"), b.texts("s"))
	require.Len(t, b.ids(), 2)

	// Another divergence is kept by another session, also when that one was changed.
	b.say(kept[0].KeptAs, "changed")
	a.say("s", "again a")
	b.say("s", "again b")
	a.sync("s")
	again := b.sync("s").Conflicts
	require.Len(t, again, 1)
	require.NotEqual(t, kept[0].KeptAs, again[0].KeptAs)
	require.Equal(t, append(mine, "changed"), b.texts(kept[0].KeptAs))
	require.Equal(t, "again b", b.texts(again[0].KeptAs)[17])
}

// TestOneBranchOfADivergenceByOurs has two devices that both go on with what they have.
// Each lists the other's line as a branch, in the place of what was there of it, which
// shows when the former heads are gone.
func TestOneBranchOfADivergenceByOurs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		r := newSimReader(heldBy(c.Server))
		ours := func(o *Options) { o.Conflict = Ours }
		a, b := c.device(t, "a", ours), c.device(t, "b", ours)
		a.say("s", "one", "two")
		a.sync()
		b.pull()
		a.say("s", "a")
		b.say("s", "b")
		for i := range 6 {
			for _, d := range []*testDevice{a, b} {
				_, err := d.Sync(t.Context(), "s")
				require.NoError(t, err)
				d.say("s", fmt.Sprint("on ", i))
				time.Sleep(time.Minute)
			}
		}
		time.Sleep(31 * 24 * time.Hour)
		a.prune(nil) // the former heads, each of which was one of the branches
		found, err := a.Histories(t.Context(), "s")
		require.NoError(t, err)
		require.Empty(t, r.litter(c.headOf(t, a.engine.SID("s")), found))
		require.Len(t, found, 2, "one of each device: %+v", found)
	})
}

// TestBranchHoldsWhatIsShorter: a device whose lines a branch of another one holds already
// stores no other branch of them. It keeps them as its policy says.
func TestBranchHoldsWhatIsShorter(t *testing.T) {
	t.Parallel()
	for policy, copies := range map[Policy]int{KeepBoth: 1, Theirs: 0} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprint(policy, running), func(t *testing.T) {
				t.Parallel()
				id := fmt.Sprintf("shorter-%d-%t", policy, running) // hosts of one id exclude each other, whatever the directory
				c := newCloud(t, nil)
				a, b := c.device(t, "a"), c.device(t, "b")
				d := c.device(t, "d", func(o *Options) { o.Conflict = policy })
				a.say(id, "one", "two", "three")
				a.sync()
				b.pull()
				d.pull()
				a.cutTo(id, 0)
				a.say(id, "other", "way")
				a.sync()
				b.say(id, "b's")
				require.Len(t, b.sync().Conflicts, 1)
				hold := &sessionstore.Hold{}
				if d.cutTo(id, 2); running {
					var err error
					hold, err = d.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
					require.NoError(t, err)
					d.sync(id)
					require.Equal(t, Diverged, d.state(id).Last)
					require.Equal(t, []string{"one", "two"}, d.texts(id))
				}
				require.NoError(t, hold.Release())
				got := d.sync(id)
				require.Len(t, got.Conflicts, 1)
				require.Equal(t, []string{"other", "way"}, d.texts(id))
				require.Len(t, d.ids(), 1+copies)
				if copies > 0 {
					require.Equal(t, []string{"one", "two"}, d.texts(got.Conflicts[0].KeptAs))
				}
				require.Equal(t, 2, c.documents()[head.TypeHistory])
				found, err := a.Histories(t.Context(), id)
				require.NoError(t, err)
				require.Len(t, found, 2, "a former head and b's branch")
				require.Zero(t, d.sync(id).Pushed)
			})
		}
	}
}

// TestConflictCopiesAreMarked tells of which session a conflict copy keeps a history, on the
// device that made it and on another one. The ids of branches differ in their first characters.
func TestConflictCopiesAreMarked(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	a.say("s", "a")
	b.say("s", "b")
	a.sync("s")
	b.sync("s")
	a.say("s", "again a")
	b.say("s", "again b")
	a.sync("s")
	b.sync("s")
	b.sync() // the copies
	a.pull()
	for _, d := range []*testDevice{a, b} {
		marked := 0
		for _, id := range d.ids() {
			s, err := d.Summary(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, "one", s.Title)
			if id == "s" {
				require.Empty(t, s.ConflictOf)
			} else {
				require.Equal(t, "s", s.ConflictOf)
				marked++
			}
		}
		require.Equal(t, 2, marked)
	}
	found, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.NotEqual(t, found[0].ID[:8], found[1].ID[:8])
	require.NoError(t, a.Restore(t.Context(), "s", found[1]))
}
