package slice_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func TestProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		checkProperties(t, seed)
	}
}

func FuzzProperties(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkProperties(t, seed) })
}

func checkProperties(t *testing.T, seed uint64) {
	t.Helper()
	msgs := parse(t, randomLines(rand.New(rand.NewPCG(seed, 1)))...)
	before := slices.Clone(msgs)
	checkRepair(t, seed, msgs)
	ends := map[int]bool{}
	n := 0
	for turn := range slice.Turns(msgs) {
		n++
		ends[turn.Start] = true
		checkCut(t, seed, msgs, n, turn.End)
	}
	require.Equal(t, n, slice.CountTurns(msgs))
	for turns := range n + 1 {
		checkWindow(t, seed, msgs, turns)
	}
	require.Equal(t, before, msgs, "seed %d: the input was changed", seed)
}

func checkRepair(t *testing.T, seed uint64, msgs []sessionstore.Message) {
	t.Helper()
	d := diagnosed(t, msgs)
	fixed, err := slice.Repair(msgs, d)
	require.NoError(t, err)
	after := diagnosed(t, fixed)
	require.True(t, after.Healthy(), "seed %d: %v", seed, lines(fixed))
	again, err := slice.Repair(fixed, after)
	require.NoError(t, err)
	require.Equal(t, fixed, again, "seed %d", seed)
	require.Empty(t, slice.OrphanedToolCalls(fixed), "seed %d", seed)

	back, err := slice.Rewind(msgs, d)
	require.NoError(t, err)
	require.Equal(t, msgs[:len(back)], append(msgs[:0:0], back...), "seed %d", seed)
	require.True(t, diagnosed(t, back).Healthy(), "seed %d", seed)
	if len(back) > 0 && len(back) < len(msgs) {
		require.True(t, slice.IsRealUser(msgs[len(back)]), "seed %d", seed)
	}
}

func checkCut(t *testing.T, seed uint64, msgs []sessionstore.Message, turn, end int) {
	t.Helper()
	orphans := slice.OrphanedToolCalls(msgs[:end])
	whole, err := slice.ToTurn(msgs, turn, slice.Refuse)
	if len(orphans) > 0 {
		require.Error(t, err)
	} else {
		require.NoError(t, err)
		require.Equal(t, msgs[:end], whole, "seed %d", seed)
	}
	for _, mode := range []slice.Orphans{slice.Complete, slice.Remove} {
		got, err := slice.ToTurn(msgs, turn, mode)
		require.NoError(t, err)
		require.Empty(t, slice.OrphanedToolCalls(got), "seed %d", seed)
		kept := got
		if mode == slice.Complete {
			kept = slices.DeleteFunc(slices.Clone(got), func(m sessionstore.Message) bool { return !slices.Contains(msgs, m) })
			require.Equal(t, msgs[:end], kept, "seed %d", seed)
		}
		require.Len(t, kept, end, "seed %d", seed)
	}
}

func checkWindow(t *testing.T, seed uint64, msgs []sessionstore.Message, turns int) {
	t.Helper()
	got := slice.Window(msgs, turns)
	start := len(msgs) - len(got)
	require.Equal(t, msgs[start:], append(msgs[:0:0], got...), "seed %d", seed)
	require.GreaterOrEqual(t, slice.CountTurns(got), min(turns, slice.CountTurns(msgs)))
	// Results of the window whose nearest call stands before it would have
	// an orphan among the messages before it that is none in the whole.
	for _, id := range slice.OrphanedToolCalls(msgs[:start]) {
		if turns > 0 {
			requireNotParted(t, seed, msgs, start, id)
		}
	}
}

// requireNotParted requires that the first mention of id from start on is no
// result: the call that is orphaned before start is not answered behind it.
func requireNotParted(t *testing.T, seed uint64, msgs []sessionstore.Message, start int, id string) {
	t.Helper()
	call := calling(id)
	probe := parse(t, call)
	for _, m := range msgs[start:] {
		calls := slices.ContainsFunc(m.ToolCalls(), func(c sessionstore.ToolCall) bool { return c.ID == id })
		if calls && m.Role() == "assistant" {
			return
		}
		require.NotEmpty(t, slice.OrphanedToolCalls(append(probe, m)), "seed %d: %s is parted from its call", seed, id)
	}
}
