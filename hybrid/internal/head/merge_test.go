package head

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMergeMetadata(t *testing.T) {
	t.Parallel()
	early, late := HLC{Wall: 1, Device: "a"}, HLC{Wall: 2, Device: "a"}
	for _, c := range []struct {
		name, base, ours, theirs, want string // ours is the later one
		lost                           []Loss
	}{
		{"same", `{"a":1}`, `{"a":2}`, `{"a":2}`, `{"a":2}`, nil},
		{"only ours", `{"a":1}`, "{\n  \"a\": 2\n}", `{"a":1}`, "{\n  \"a\": 2\n}", nil},
		{"only theirs", `{"a":1}`, `{"a":1}`, "{\n  \"a\": 2\n}", "{\n  \"a\": 2\n}", nil},
		{"different members", `{"a":1,"b":1}`, `{"a":2,"b":1}`, `{"a":1,"b":2}`, `{"a":2,"b":2}`, nil},
		{"both added", `{}`, `{"a": 1}`, `{"b": 2}`, `{"a": 1, "b": 2}`, nil},
		{"both changed", `{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":2}`, []Loss{{"a", []byte("3"), early}}},
		{"both added one", `{}`, `{"a":2}`, `{"a":3}`, `{"a":2}`, []Loss{{"a", []byte("3"), early}}},
		{"removed there", `{"a":1,"b":1}`, `{"a":1,"b":2}`, `{"b":1}`, `{"b":2}`, nil},
		{"removed here", `{"a":1,"b":1}`, `{"b":1}`, `{"a":1,"b":2}`, `{"b":2}`, nil},
		{"removed on both sides", `{"a":1,"b":1}`, `{"b":2}`, `{"b":1}`, `{"b":2}`, nil},
		{"changed here, removed there", `{"a":1}`, `{"a":2}`, `{}`, `{"a":2}`, []Loss{{"a", nil, early}}},
		{"removed here, changed there", `{"a":1}`, `{}`, `{"a":2}`, `{}`, []Loss{{"a", []byte("2"), early}}},
		{"objects are whole", `{"a":{"x":1}}`, `{"a":{"x":2}}`, `{"a":{"y":1}}`, `{"a":{"x":2}}`, []Loss{{"a", []byte(`{"y":1}`), early}}},
		{"no base", ``, `{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`, nil},
		{"NaN and big numbers", `{"a":1}`, `{"a":NaN}`, `{"a":1,"b":1234567890123456789012}`, `{"a":NaN,"b":1234567890123456789012}`, nil},
		{"ours is no object", `{"a":1}`, `null`, `{"a":2}`, `{"a":2}`, []Loss{{"", []byte(`null`), late}}},
		{"theirs is no object", `{"a":1}`, `{"a":2}`, `[`, `{"a":2}`, []Loss{{"", []byte(`[`), early}}},
		{"neither is", `{"a":1}`, `1`, `2`, `1`, []Loss{{"", []byte(`2`), early}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := Version{[]byte(c.ours), late}, Version{[]byte(c.theirs), early}
			got, lost := MergeMetadata([]byte(c.base), ours, theirs)
			require.Equal(t, c.want, string(got))
			require.Equal(t, c.lost, lost)
			got, lost = MergeMetadata([]byte(c.base), theirs, ours)
			require.Equal(t, c.want, string(got), "sides swapped")
			require.Equal(t, c.lost, lost)
		})
	}
}

// TestMergeModel compares with maps: every change is in the result or lost.
func TestMergeModel(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+3000; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		base, a, b := map[string]int{}, map[string]int{}, map[string]int{}
		for _, k := range []string{"a", "b", "c", "d", "e"} {
			for _, m := range []map[string]int{base, a, b} {
				if v := r.IntN(4); v > 0 {
					m[k] = v
				}
			}
		}
		text := func(m map[string]int) []byte {
			out := "{"
			for k, v := range m {
				out += fmt.Sprintf("%q: %d, ", k, v)
			}
			return []byte(out + `"z": 0}`)
		}
		va, vb := Version{text(a), HLC{Wall: r.Int64N(2)}}, Version{text(b), HLC{Wall: r.Int64N(2)}}
		got, lost := MergeMetadata(text(base), va, vb)
		swapped, _ := MergeMetadata(text(base), vb, va)
		require.NoError(t, pyjson.Check(got, pyjson.Strict))
		for _, k := range []string{"a", "b", "c", "d", "e"} {
			have := number(got, k)
			require.Equal(t, have, number(swapped, k), "seed %d", seed)
			switch {
			case a[k] == b[k], b[k] == base[k]:
				require.Equal(t, a[k], have, "seed %d, %s", seed, k)
			case a[k] == base[k]:
				require.Equal(t, b[k], have, "seed %d, %s", seed, k)
			default:
				want := a[k]
				if va.Clock.Wall < vb.Clock.Wall {
					want = b[k]
				} else if va.Clock.Wall == vb.Clock.Wall {
					want = have
				}
				require.Equal(t, want, have, "seed %d, %s", seed, k)
				require.Condition(t, func() bool {
					for _, l := range lost {
						if l.Key == k {
							return string(l.Value) != fmt.Sprint(have)
						}
					}
					return false
				}, "seed %d, %s", seed, k)
			}
		}
	}
}

func number(obj []byte, key string) int {
	v, ok := pyjson.Lookup(obj, key)
	if !ok {
		return 0
	}
	n, _ := pyjson.Int(v)
	return int(n)
}

func TestClocks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 20, 30, 123e6, time.UTC)
	c := Next(HLC{}, now, "1f3a9c02")
	require.Equal(t, "2026-11-20T10:20:30.123Z-0000-1f3a9c02", c.String())
	d := Next(c, now.Add(-time.Hour), "99999999")
	require.Equal(t, "2026-11-20T10:20:30.123Z-0001-99999999", d.String())
	r := rand.New(rand.NewPCG(4, 2))
	last := HLC{}
	for range 30000 {
		next := Next(last, now.Add(time.Duration(r.IntN(5))*time.Millisecond), []string{"a", "b"}[r.IntN(2)])
		require.Positive(t, next.Compare(last))
		require.Greater(t, next.String(), last.String())
		last = next
	}
	back, err := ParseHLC(last.String())
	require.NoError(t, err)
	require.Equal(t, last, back)
	zero, err := ParseHLC("")
	require.NoError(t, err)
	require.Negative(t, zero.Compare(c))
	for _, bad := range []string{
		"x", "2026-11-20T10:20:30.123Z", "2026-11-20T10:20:30.123Z-0001", "2026-11-20T10:20:30.123Z-00a1-x", "2026-11-20T10:20:30.123Z-12345-x",
		"2026-13-20T10:20:30.123Z-0001-x", "2026-11-20T10:20:30.1234-0001-x", "1026-11-20T10:20:30.123Z-0001-x", "2026-11-20T10:20:30.123ZZ0001-x",
	} {
		_, err := ParseHLC(bad)
		require.Error(t, err, bad)
	}
	require.Equal(t, int64(maxWall), Next(HLC{}, time.UnixMilli(maxWall+5), "a").Wall)
}
