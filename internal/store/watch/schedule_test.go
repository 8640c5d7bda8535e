package watch

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var dawn = time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)

func TestSchedule(t *testing.T) {
	t.Parallel()
	plan := newSchedule(10*time.Second, dawn)
	for _, id := range []string{"a", "b", "c", "d", "a"} {
		plan.add(id, dawn)
	}
	at := func(d time.Duration) []string { return plan.due(dawn.Add(d)) }

	require.Empty(t, at(0))
	require.Equal(t, []string{"a"}, at(time.Second), "a share begun is a share")
	require.Equal(t, []string{"b", "c"}, at(6*time.Second))
	plan.remove("d")
	plan.remove("nobody")
	plan.add("e", dawn.Add(7*time.Second))
	require.Equal(t, []string{"a"}, at(8*time.Second))
	require.Equal(t, []string{"b"}, at(9*time.Second))
	require.Equal(t, []string{"c", "e", "a", "b"}, at(time.Hour), "everyone, but once")
	require.Empty(t, newSchedule(time.Second, dawn).due(dawn.Add(time.Hour)))
}

// TestScheduleKeepsThePeriod adds and removes sessions at random: no two looks at
// one are further apart than the period and the step, and the work is even as
// long as nothing is removed.
func TestScheduleKeepsThePeriod(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	const step, period = 100 * time.Millisecond, 1500 * time.Millisecond

	now := dawn
	plan := newSchedule(period, now)
	last := map[string]time.Time{}
	var ids []string
	add := func() {
		id := strconv.Itoa(len(last)) + "-" + strconv.FormatUint(random.Uint64(), 36)
		plan.add(id, now)
		last[id] = now
		ids = append(ids, id)
	}
	for range 1000 {
		add()
	}
	for round := range 600 {
		now = now.Add(step)
		due := plan.due(now)
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
				plan.remove(ids[i])
				delete(last, ids[i])
				ids = slices.Delete(ids, i, i+1)
			} else {
				add()
			}
		}
	}
}

func TestRecentSet(t *testing.T) {
	t.Parallel()
	recent := newRecentSet(2)
	use := func(id string, wantAdded bool, wantOut string) {
		t.Helper()
		added, out := recent.use(id)
		require.Equal(t, wantAdded, added)
		require.Equal(t, wantOut, out)
	}
	use("a", true, "")
	use("b", true, "")
	use("a", false, "")
	use("c", true, "b")
	require.True(t, recent.remove("a"))
	require.False(t, recent.remove("a"))
	use("d", true, "")
	use("e", true, "c")
}
