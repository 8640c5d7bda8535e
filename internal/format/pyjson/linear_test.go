//go:build !race

// Times are compared here; with the race detector they would be those of its own memory.

package pyjson_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// shapes are texts of about the given size each of which would be slow for an algorithm that is not linear.
var shapes = map[string]func(size int) string{
	"deep": func(size int) string {
		filler := `"` + strings.Repeat("x", size/900) + `"`
		return strings.Repeat(`{"f":`+filler+`,"k":[`, 450) + "NaN" + strings.Repeat("]}", 450)
	},
	"names": func(size int) string {
		members := make([]string, size/16)
		for i := range members {
			members[i] = fmt.Sprintf(`"name%07d":%d`, i, i%10)
		}
		return "{" + strings.Join(members, ",") + `,"last":NaN}`
	},
	"one name": func(size int) string {
		return "{" + strings.Repeat(`"n\u0061me":[1],`, size/16) + `"last":NaN}`
	},
	"escapes": func(size int) string {
		return `{"t":"` + strings.Repeat(`\\\"\ud83d\ude00`, size/16) + `","last":NaN}`
	},
	"digits":  func(size int) string { return `{"n":1` + strings.Repeat("0", size) + `e-5,"last":NaN}` },
	"numbers": func(size int) string { return `{"n":[` + strings.Repeat("1.5,", size/4) + `1],"last":NaN}` },
}

// TestLinear compares the time for a text that is 64 times as long with that for 64 runs over the short one. They take
// about as long when an algorithm is linear; a quadratic one takes 64 times as long for the long text.
func TestLinear(t *testing.T) {
	const size, factor, bound = 1 << 13, 64, 8
	operations := map[string]func(b []byte){
		"check":   func(b []byte) { _ = pyjson.Check(b, pyjson.Strict) },
		"append":  func(b []byte) { _, _ = pyjson.Append(nil, b, pyjson.Style{SortKeys: true, Redact: true}) },
		"refuse":  func(b []byte) { _, _ = pyjson.Append(nil, b, pyjson.Style{Finite: true}) },
		"message": func(b []byte) { _, _ = pyjson.AppendMessage(nil, b, pyjson.Style{}) },
		"lookup":  func(b []byte) { pyjson.Lookup(b, "last") },
		"splice":  func(b []byte) { pyjson.Splice(b, "new", []byte("1")) },
		"remove":  func(b []byte) { pyjson.Remove(b, "name") },
	}
	for shape, text := range shapes {
		small, large := []byte(text(size)), []byte(text(size*factor))
		require.NoError(t, pyjson.Check(large, pyjson.Tolerant), shape)
		for name, run := range operations {
			repeated := func(b []byte) {
				for range factor {
					run(b)
				}
			}
			ratio := 0.0
			for range 10 { // one calm moment is enough
				ratio = float64(fastest(t, run, large)) / float64(max(fastest(t, repeated, small), time.Microsecond))
				if ratio <= bound {
					break
				}
			}
			require.LessOrEqual(t, ratio, float64(bound), "%s of %s", name, shape)
		}
	}
}

// fastest returns the shortest of several runs.
func fastest(t *testing.T, run func([]byte), b []byte) time.Duration {
	t.Helper()
	best := time.Hour
	for range 5 {
		best = min(best, testenv.Work(t, func() { run(b) }))
	}
	return best
}

// TestSanitiserDepth has the shape for which the reference needs twice as long with every level.
func TestSanitiserDepth(t *testing.T) {
	t.Parallel()
	const levels = 900
	text := `{"content":` + strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) + "}"
	got, err := pyjson.AppendMessage(nil, []byte(text), pyjson.Style{})
	require.NoError(t, err)
	require.Equal(t, `{"content": `+strings.Repeat(`{"a": `, 49)+"{}"+strings.Repeat("}", 50), string(got))
}
