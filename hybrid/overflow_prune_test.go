package hybrid

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/head"
)

// pages returns how many entries each document has that lists former heads or branches.
func (c *cloud) pages(t *testing.T) (entries []int) {
	t.Helper()
	for _, d := range c.Docs(testDatabase, testContainer) {
		var doc struct {
			Type          string
			Old, Branches []any
		}
		require.NoError(t, json.Unmarshal(d.Body, &doc))
		if doc.Type == head.TypeMore {
			require.Less(t, len(d.Body), 40<<10)
			entries = append(entries, len(doc.Old)+len(doc.Branches))
		}
	}
	return entries
}

// TestPruneOfLists fills the lists of a head beyond their room. Each list that is
// replaced stays as garbage until Prune removes it. What is left is as few documents as
// hold the entries; those of former heads go when their time is over, and all of them
// with the session.
func TestPruneOfLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const rewinds, branches = head.MaxOld + head.MaxMore + 3, head.MaxBranches + 4
		c := newCloud(t, nil)
		a := c.device(t, "a")
		a.say("s", "one", "two")
		a.sync()
		var others []*testDevice
		for i := range branches {
			d := c.device(t, fmt.Sprint("d", i), func(o *Options) { o.Conflict = Theirs })
			d.pull()
			d.say("s", fmt.Sprint("branch ", i))
			others = append(others, d)
		}
		for i := range rewinds {
			a.say("s", fmt.Sprint("way ", i))
			a.sync("s")
			a.cutTo("s", 2)
			a.sync("s")
		}
		a.say("s", "on")
		a.sync("s")
		for _, d := range others {
			_, err := d.Sync(t.Context(), "s")
			require.NoError(t, err)
		}
		all := func() int {
			found, err := a.Branches(t.Context(), "s")
			require.NoError(t, err)
			return len(found)
		}
		before := all()
		require.Equal(t, rewinds+branches, before)
		require.Greater(t, len(c.pages(t)), head.MaxMore, "each change stored a list")

		time.Sleep(8 * 24 * time.Hour)
		a.prune(nil)
		require.ElementsMatch(t, []int{head.MaxMore, 3, 4}, c.pages(t))
		require.Equal(t, before, all())

		time.Sleep(31 * 24 * time.Hour)
		a.prune(nil)
		time.Sleep(8 * 24 * time.Hour)
		a.prune(&PruneOptions{All: true})
		require.Equal(t, []int{4}, c.pages(t), "branches stay")
		require.Equal(t, branches, all())

		require.NoError(t, a.DeleteRemote(t.Context(), "s"))
		time.Sleep(8 * 24 * time.Hour)
		a.prune(&PruneOptions{All: true})
		require.Empty(t, c.pages(t))
	})
}
