package sessionstore

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var dawn = time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)

func TestTurns(t *testing.T) {
	t.Parallel()
	turns := newTurns(10*time.Second, dawn)
	for _, id := range []string{"a", "b", "c", "d", "a"} {
		turns.add(id, dawn)
	}
	at := func(d time.Duration) []string { return turns.due(dawn.Add(d)) }

	require.Empty(t, at(0))
	require.Equal(t, []string{"a"}, at(time.Second), "a share begun is a share")
	require.Equal(t, []string{"b", "c"}, at(6*time.Second))
	turns.remove("d")
	turns.remove("nobody")
	turns.add("e", dawn.Add(7*time.Second))
	require.Equal(t, []string{"a"}, at(8*time.Second))
	require.Equal(t, []string{"b"}, at(9*time.Second))
	require.Equal(t, []string{"c", "e", "a", "b"}, at(time.Hour), "everyone, but once")
	require.Empty(t, newTurns(time.Second, dawn).due(dawn.Add(time.Hour)))
}

// TestTurnsKeepThePeriod adds and removes sessions at random: no two looks at
// one are further apart than the period and the step, and the work is even as
// long as nothing is removed.
func TestTurnsKeepThePeriod(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const step, period = 100 * time.Millisecond, 1500 * time.Millisecond

	now := dawn
	turns := newTurns(period, now)
	last := map[string]time.Time{}
	var ids []string
	add := func() {
		id := strconv.Itoa(len(last)) + "-" + strconv.FormatUint(random.Uint64(), 36)
		turns.add(id, now)
		last[id] = now
		ids = append(ids, id)
	}
	for range 1000 {
		add()
	}
	for round := range 600 {
		now = now.Add(step)
		due := turns.due(now)
		if round < 100 {
			require.LessOrEqual(t, time.Duration(len(due)), 1000*step/period+1)
		}
		for _, id := range due {
			if last[id].IsZero() {
				require.Fail(t, "the turn of a removed session", id)
			}
			last[id] = now
		}
		for id, at := range last {
			if now.Sub(at) > period {
				require.Fail(t, "overdue", "%s: %v", id, now.Sub(at))
			}
		}
		if round < 100 {
			continue
		}
		for range random.IntN(200) {
			if len(ids) > 0 && random.IntN(2) == 0 {
				i := random.IntN(len(ids))
				turns.remove(ids[i])
				delete(last, ids[i])
				ids = slices.Delete(ids, i, i+1)
			} else {
				add()
			}
		}
	}
}

func TestHotSet(t *testing.T) {
	t.Parallel()
	hot := newHotSet(2)
	touch := func(id string, wantAdded bool, wantOut string) {
		t.Helper()
		added, out := hot.touch(id)
		require.Equal(t, wantAdded, added)
		require.Equal(t, wantOut, out)
	}
	touch("a", true, "")
	touch("b", true, "")
	touch("a", false, "")
	touch("c", true, "b")
	require.True(t, hot.remove("a"))
	require.False(t, hot.remove("a"))
	touch("d", true, "")
	touch("e", true, "c")
}
