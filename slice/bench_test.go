package slice_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/internal/rowtest"
)

// conversation returns the messages of [rowtest.Conversation], and their size.
func conversation(t testing.TB, n int) (msgs []sessionstore.Message, size int64) {
	t.Helper()
	rows := rowtest.Conversation(n)
	for _, row := range rows {
		size += int64(len(row))
	}
	return parse(t, rows...), size
}

func BenchmarkSlice(b *testing.B) {
	for _, n := range []int{1000, 10_000, 50_000} {
		msgs, size := conversation(b, n)
		d, err := slice.Diagnose(msgs)
		require.NoError(b, err)
		half := slice.CountTurns(msgs) / 2
		run := func(name string, do func() error) {
			b.Run(fmt.Sprintf("op=%s/messages=%d", name, n), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					require.NoError(b, do())
				}
			})
		}
		run("CountTurns", func() error { slice.CountTurns(msgs); return nil })
		run("Complete", func() error { _, err := slice.ToTurn(msgs, 2*half, slice.Complete); return err })
		run("Remove", func() error { _, err := slice.ToTurn(msgs, half, slice.Remove); return err })
		run("Summarize", func() error { _, err := slice.Summarize(msgs, half, 100); return err })
		run("Orphans", func() error { slice.OrphanedToolCalls(msgs); return nil })
		run("Diagnose", func() error { _, err := slice.Diagnose(msgs); return err })
		run("Repair", func() error { _, err := slice.Repair(msgs, d); return err })
		run("Rewind", func() error { _, err := slice.Rewind(msgs, d); return err })
		run("Window", func() error { slice.Window(msgs, 10); return nil })
	}
}

// TestAllocations holds how many allocations a message may cost where all is
// well: those of its ids.
func TestAllocations(t *testing.T) {
	msgs := parse(t, ask, calling("a"), result("a"), say)
	for len(msgs) < 4000 {
		msgs = append(msgs, msgs[:4]...)
	}
	perMessage := func(do func()) float64 { return testing.AllocsPerRun(5, do) / float64(len(msgs)) }
	require.Less(t, perMessage(func() { _, _ = slice.Diagnose(msgs) }), 1.5)
	require.Less(t, perMessage(func() { _, _ = slice.ToTurn(msgs, slice.CountTurns(msgs), slice.Remove) }), 1.5)
	require.Less(t, perMessage(func() { slice.OrphanedToolCalls(msgs) }), 1.5)
	require.Less(t, perMessage(func() { slice.CountTurns(msgs) }), 0.1)
	require.Less(t, perMessage(func() { slice.Window(msgs, 10) }), 0.1)
}
