package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// model is what an LRU does, told in the plainest way.
type model struct {
	max     int
	entries []entry // the one used last first
}

type entry struct{ key, value, cost int }

func (m *model) find(key int) int {
	return slices.IndexFunc(m.entries, func(e entry) bool { return e.key == key })
}

func (m *model) remove(key int) (e entry, ok bool) {
	i := m.find(key)
	if i < 0 {
		return e, false
	}
	e = m.entries[i]
	m.entries = slices.Delete(m.entries, i, i+1)
	return e, true
}

func (m *model) cost() (sum int) {
	for _, e := range m.entries {
		sum += e.cost
	}
	return sum
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+50; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		c, m := New[int, int](100), &model{max: 100}
		for range 500 {
			key := r.IntN(20)
			switch r.IntN(4) {
			case 0:
				value, ok := c.Get(key)
				e, has := m.remove(key)
				require.Equal(t, has, ok)
				if has {
					require.Equal(t, e.value, value)
					m.entries = slices.Insert(m.entries, 0, e)
				}
			case 1:
				value, cost, ok := c.Remove(key)
				e, has := m.remove(key)
				require.Equal(t, has, ok)
				require.Equal(t, e, entry{e.key, value, int(cost)})
			default:
				e := entry{key, r.Int(), r.IntN(110)}
				m.remove(key)
				require.Equal(t, e.cost <= m.max, c.Put(key, e.value, int64(e.cost)))
				if e.cost <= m.max {
					m.entries = slices.Insert(m.entries, 0, e)
				}
			}
			for c.Over() {
				require.Greater(t, m.cost(), m.max)
				oldest := m.entries[len(m.entries)-1]
				key, value, cost := c.Evict()
				require.Equal(t, oldest, entry{key, value, int(cost)})
				m.remove(key)
			}
			require.LessOrEqual(t, m.cost(), m.max)
			require.EqualValues(t, m.cost(), c.Cost())
			require.Len(t, m.entries, c.Len())
			n := &c.ends
			for _, e := range m.entries {
				n = n.next
				require.Equal(t, e.key, n.key)
			}
		}
	}
}

func TestKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{-1, 0} {
		c := New[string, int](limit)
		require.False(t, c.Put("a", 1, 1))
		require.Zero(t, c.Len())
	}
}

// What is taken out and put back again and again costs no memory.
func TestAllocatesNothingAgain(t *testing.T) {
	c := New[string, int](10)
	c.Put("a", 1, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		value, cost, _ := c.Remove("a")
		c.Put("a", value, cost)
	}))
}
