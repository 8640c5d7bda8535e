package hybrid

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// headOf reads a session's head behind everybody's back.
func (c *cloud) headOf(t testing.TB, sid string) *head.Head {
	t.Helper()
	for _, d := range c.Docs(testDatabase, testContainer) {
		if d.ID == segment.HeadID(sid) {
			out, err := head.Decode(d.Body, sid)
			require.NoError(t, err)
			return out
		}
	}
	require.Fail(t, "no head")
	return nil
}

// TestManyFormerTips rewinds more often than a head has room for.
func TestManyFormerTips(t *testing.T) {
	t.Parallel()
	const rewinds = head.MaxOld + head.MaxMore + 3
	c := newCloud(t, nil)
	a, late := c.device(t, "a"), c.device(t, "late")
	a.say("s", "one", "two")
	for i := range rewinds {
		a.say("s", fmt.Sprint("way ", i))
		a.sync("s")
		if i == 0 {
			late.pull()
		}
		a.cutTo("s", 2)
		a.sync("s")
	}
	require.Len(t, c.headOf(t, a.engine.SID("s")).Old, head.MaxOld)
	require.Zero(t, c.documents()["branch"], "a former head is no branch")
	all, err := a.Branches(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, all, rewinds)
	for _, b := range all {
		require.Equal(t, "rewrite", b.Why)
		require.Equal(t, 3, b.Messages)
		require.False(t, b.At.IsZero())
	}

	require.NoError(t, os.RemoveAll(filepath.Join(late.Dir(), ".sessionstore", "sync")))
	late.pull("s") // what it has is long gone, and it does not know any more that it had that from the cloud
	require.Empty(t, late.sync("s").Conflicts)
	require.NotEqual(t, Diverged, late.state("s").State)
	require.EqualValues(t, 2, c.headOf(t, a.engine.SID("s")).Transcript.N, "the rewind stays")

	require.NoError(t, a.Restore(t.Context(), "s", all[len(all)-1]))
	require.Equal(t, []string{"one", "two", "way 0"}, a.texts("s"))
}

// TestManyBranches lets more devices go their own way than a head has room for.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	const devices = head.MaxBranches + 4
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one", "two")
	a.sync("s")
	var all []*testDevice
	for i := range devices {
		d := c.device(t, fmt.Sprint("d", i))
		d.pull()
		d.say("s", fmt.Sprint("way ", i))
		all = append(all, d)
	}
	a.say("s", "three")
	a.sync("s")
	for _, d := range all {
		require.Len(t, d.sync("s").Conflicts, 1)
	}
	require.Len(t, c.headOf(t, a.engine.SID("s")).Branches, head.MaxBranches)
	found, err := a.Branches(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, found, devices)
	for _, b := range found {
		require.Equal(t, 2, b.Common)
		require.NotEmpty(t, b.KeptAs, "also where the tip had no room")
	}
	require.NoError(t, a.Restore(t.Context(), "s", found[devices-1]))
	require.Equal(t, []string{"one", "two", "way 0"}, a.texts("s"))
}

// TestDamagedListOfFormerTips loses the document that has no room in the head:
// it is told, and hinders nobody.
func TestDamagedListOfFormerTips(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	rewind := func(i int) {
		a.say("s", fmt.Sprint("way ", i))
		a.sync("s")
		a.cutTo("s", 1)
		a.sync("s")
	}
	for i := range head.MaxOld + 2 {
		rewind(i)
	}
	for _, d := range c.Docs(testDatabase, testContainer) {
		if d.ID == c.headOf(t, a.engine.SID("s")).OldMore[0] {
			require.NoError(t, c.Remove(testDatabase, testContainer, d.Partition, d.ID))
		}
	}
	all, err := a.Branches(t.Context(), "s")
	require.ErrorIs(t, err, ErrDamaged)
	require.Len(t, all, head.MaxOld)
	require.NoError(t, a.Restore(t.Context(), "s", all[0]))
	a.cutTo("s", 1)
	a.sync("s")
	rewind(99)
	all, err = a.Branches(t.Context(), "s")
	require.ErrorIs(t, err, ErrDamaged, "it still is")
	require.Greater(t, len(all), head.MaxOld)
}

// TestContinuedBranchWithoutRoomInTheHead has a device write on while it is diverged,
// after the head had no more room for its branch. The longer branch replaces the
// one in the list, also where the document of that one could not be removed.
func TestContinuedBranchWithoutRoomInTheHead(t *testing.T) {
	t.Parallel()
	const devices = head.MaxBranches + 4
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("noroom", "one", "two")
	a.sync("noroom")
	var all []*testDevice
	for i := range devices {
		d := c.device(t, fmt.Sprint("d", i))
		d.pull()
		d.say("noroom", fmt.Sprint("way ", i))
		all = append(all, d)
	}
	first := all[1]
	_, err := first.Acquire(t.Context(), "noroom", sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	a.say("noroom", "three")
	a.sync("noroom")
	for _, d := range all {
		d.sync("noroom")
	}
	listed := func() (lengths []int) {
		found, err := a.Branches(t.Context(), "noroom")
		require.NoError(t, err)
		for _, b := range found {
			lengths = append(lengths, b.Messages)
		}
		slices.Sort(lengths)
		return lengths
	}
	want := slices.Repeat([]int{3}, devices)
	require.Equal(t, want, listed())

	c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		if r.Op == cosmostest.OpDelete {
			return cosmostest.Refuse(http.StatusBadRequest, 0)
		}
		return cosmostest.Fault{}
	}))
	for i := range 3 {
		first.say("noroom", fmt.Sprint("on ", i))
		first.sync("noroom")
		require.Equal(t, Diverged, first.state("noroom").State)
		want[devices-1]++
		require.Equal(t, want, listed())
	}
}
