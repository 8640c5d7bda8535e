//go:build !race

// Times are compared here; with the race detector they would be those of its own memory.

package slice_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// shapes are conversations of about n messages, or calls, each of which would
// be slow for an algorithm that is not linear.
func shapes() map[string]func(n int) []string {
	ids := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("c%d", i))
		}
		return list
	}
	each := func(n int, line func(id string) string) (list []string) {
		for _, id := range ids(n) {
			list = append(list, line(id))
		}
		return list
	}
	call := func(id string) string { return calling(id) }
	return map[string]func(n int) []string{
		"late results": func(n int) []string {
			return append(append([]string{ask}, each(n/3, call)...), append([]string{say, ask}, each(n/3, result)...)...)
		},
		"results first": func(n int) []string {
			return append(append([]string{ask}, each(n/2, result)...), each(n/2, call)...)
		},
		"one message": func(n int) []string {
			return append([]string{ask, calling(ids(n)...), ask}, each(n, result)...)
		},
		"one id": func(n int) []string {
			return append(strings.Split(strings.Repeat(calling("c")+"\n", n)+ask, "\n"), result("c"))
		},
		"orphans": func(n int) []string {
			return append(append([]string{ask}, each(n/2, call)...), strings.Split(strings.Repeat(ask+"\n", n/2)+ask, "\n")...)
		},
		"one message without ids": func(n int) []string {
			return []string{ask, `{"role": "assistant", "tool_calls": [` + strings.Repeat(`{"tool": "t"}, `, n) + `{}]}`}
		},
		"blocks": func(n int) []string {
			all := strings.Join(each(n, func(id string) string { return fmt.Sprintf(`{"type": "tool_result", "tool_use_id": %q}`, id) }), ", ")
			return append(append([]string{ask}, each(n, using)...), ask, `{"role": "user", "content": [`+all+`]}`)
		},
	}
}

// TestLinear compares the time for a conversation with that for one of which
// all is 16 times as long. Quadratic algorithms need 256 times as long; linear
// ones stay far below the bound even on a busy machine.
func TestLinear(t *testing.T) {
	const size, factor, bound = 250, 16, 4
	operations := map[string]func(msgs []sessionstore.Message){
		"turns":    func(msgs []sessionstore.Message) { slice.CountTurns(msgs) },
		"complete": func(msgs []sessionstore.Message) { _, _ = slice.ToTurn(msgs, slice.CountTurns(msgs), slice.Complete) },
		"remove":   func(msgs []sessionstore.Message) { _, _ = slice.ToTurn(msgs, slice.CountTurns(msgs), slice.Remove) },
		"refuse":   func(msgs []sessionstore.Message) { _, _ = slice.ToTurn(msgs, slice.CountTurns(msgs), slice.Refuse) },
		"summary":  func(msgs []sessionstore.Message) { _, _ = slice.Summarize(msgs, slice.CountTurns(msgs), 10) },
		"window":   func(msgs []sessionstore.Message) { slice.Window(msgs, 1) },
		"repair": func(msgs []sessionstore.Message) {
			d, _ := slice.Diagnose(msgs)
			_, _ = slice.Repair(msgs, d)
		},
		"rewind": func(msgs []sessionstore.Message) {
			d, _ := slice.Diagnose(msgs)
			_, _ = slice.Rewind(msgs, d)
		},
		"associate": func(msgs []sessionstore.Message) {
			events := make([]eventslog.Ref, len(msgs))
			for i := range events {
				events[i] = eventslog.Ref{SessionID: "s", CallID: fmt.Sprintf("c%d", i), Prompt: eventslog.TextSum{byte(i), byte(i >> 8), 1}}
			}
			slice.Associate(msgs, events)
		},
	}
	for shape, of := range shapes() {
		small, large := parse(t, of(size)...), parse(t, of(size*factor)...)
		for name, run := range operations {
			repeated := func(msgs []sessionstore.Message) {
				for range factor {
					run(msgs)
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

func fastest(t *testing.T, run func([]sessionstore.Message), msgs []sessionstore.Message) time.Duration {
	t.Helper()
	best := time.Hour
	for range 3 {
		best = min(best, testenv.Work(t, func() { run(msgs) }))
	}
	return best
}
