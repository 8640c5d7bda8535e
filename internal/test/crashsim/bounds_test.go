package crashsim

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/stretchr/testify/require"
)

// rewrites records n rewrites of main, of which only the first is synced.
func rewrites(t *testing.T, n int) *Log {
	t.Helper()
	r, h := record(t, map[string]string{"main": before})
	for i := range n {
		h := hand{&seam.Seam{After: func(op seam.Op) {
			if i == 0 || op.Kind != seam.Sync && op.Kind != seam.SyncDir {
				r.After(op)
			}
		}}, h.dir}
		require.NoError(t, rewrite(h, before+strings.Repeat("more\n", i+1)))
		r.Acknowledge()
	}
	log, err := r.Log()
	require.NoError(t, err)
	return log
}

func texts(t *testing.T, c Crash) ([]string, Tally) {
	t.Helper()
	var list []string
	var tally Tally
	for s, err := range c.States(&tally) {
		require.NoError(t, err)
		list = append(list, s.String())
	}
	return list, tally
}

func TestStatesAreBoundedAndSpread(t *testing.T) {
	t.Parallel()
	log := rewrites(t, 4)
	all, tally := texts(t, Crash{Log: log, Max: 100_000})
	require.Zero(t, tally.Left)
	require.Equal(t, len(log.Steps)+1, tally.Cuts)
	require.Greater(t, len(all), 500)

	some, tally := texts(t, Crash{Log: log, Max: 60})
	require.LessOrEqual(t, len(some), 60)
	require.Equal(t, len(some), tally.States)
	require.NotZero(t, tally.Left)
	require.Equal(t, len(log.Steps)+1, tally.Cuts)
	cuts := map[string]bool{}
	for _, text := range some {
		cuts[strings.Split(text, ",")[1]] = true
	}
	require.Greater(t, len(cuts), len(log.Steps)/2, "not only the first cuts")
	require.Contains(t, cuts, " cut at 14 of 14")
	require.Contains(t, tally.String(), "after 15 cuts")
}

func TestStatesRepeat(t *testing.T) {
	t.Parallel()
	log := rewrites(t, 3)
	first, _ := texts(t, Crash{Log: log, Seed: 7, Max: 300})
	second, _ := texts(t, Crash{Log: log, Seed: 7, Max: 300})
	require.Equal(t, first, second)
	require.ElementsMatch(t, first, distinct(first))
	other, _ := texts(t, Crash{Log: log, Seed: 8, Max: 300})
	require.NotEqual(t, first, other)
}

func TestStatesOfSomeCuts(t *testing.T) {
	t.Parallel()
	log := rewrites(t, 2)
	for s, err := range (&Crash{Log: log, From: 3, To: 6}).States(nil) {
		require.NoError(t, err)
		require.True(t, 3 <= s.Done && s.Done <= 6, s)
		require.Equal(t, s.Done >= 5, s.Acked == 1, s)
	}
	n := 0
	for range (&Crash{Log: log}).States(nil) {
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
}

func TestPairs(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {1, 9}, {2, 1}, {9, 1}, {2, 2}, {7, 5}, {30, 12}} {
		seen := map[[2]int]int{}
		for data, names := range pairs(size[0], size[1], rand.New(rand.NewPCG(1, 1))) {
			seen[[2]int{data, names}]++
			require.Equal(t, 1, seen[[2]int{data, names}], "only once")
			require.True(t, data < size[0] && names < size[1], size)
			if len(seen) <= min(size[0], 2)*min(size[1], 2) {
				require.True(t, data < 2 && names < 2, "extremes first")
			}
		}
		require.Len(t, seen, size[0]*size[1], "each once")
	}
}

// States that were yielded are not changed by what comes after them.
func TestStatesStay(t *testing.T) {
	t.Parallel()
	var list []*State
	var was [][]string
	content := func(s *State) []string {
		all := s.Paths()
		for _, name := range s.Paths() {
			all = append(all, found(s, name))
		}
		return all
	}
	for s, err := range (&Crash{Log: rewrites(t, 3)}).States(nil) {
		require.NoError(t, err)
		list = append(list, s)
		was = append(was, content(s))
	}
	for i, s := range list {
		require.Equal(t, was[i], content(s), s)
	}
}

// An ordered disk has fewer states, and all of them are states of the other.
func TestOrderedStates(t *testing.T) {
	t.Parallel()
	log := rewrites(t, 3)
	type key struct {
		acked int
		sum   [32]byte
	}
	all := map[key]bool{}
	for s, err := range (&Crash{Log: log, Max: 100_000}).States(nil) {
		require.NoError(t, err)
		all[key{s.Acked, s.sum()}] = true
	}
	n := 0
	for s, err := range (&Crash{Log: log, Max: 100_000, Ordered: true}).States(nil) {
		require.NoError(t, err)
		require.True(t, all[key{s.Acked, s.sum()}], s)
		n++
	}
	require.Less(t, n, len(all))
	require.NotZero(t, n)
}
