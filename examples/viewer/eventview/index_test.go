package eventview

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func newLog(t *testing.T) (*eventslog.Log, string) {
	t.Helper()
	dir := t.TempDir()
	log, err := eventslog.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log, filepath.Join(dir, "events.jsonl")
}

func write(t *testing.T, path string, from, n int, r *rand.Rand) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	for i := from; i < from+n; i++ {
		level := []string{"INFO", "DEBUG", "ERROR"}[r.IntN(3)]
		name := []string{"tool:pre", "tool:post", "llm:request"}[r.IntN(3)]
		_, err = fmt.Fprintf(f, "{\"ts\": \"2026-03-01T10:00:00Z\", \"event\": %q, \"lvl\": %q, \"data\": {\"n\": %d}}\n", name, level, i)
		require.NoError(t, err)
		if r.IntN(9) == 0 {
			_, err = io.WriteString(f, "damaged {\n")
			require.NoError(t, err)
		}
	}
	require.NoError(t, f.Close())
}

// TestPages compares pages of a log that grows with all heads of it.
func TestPages(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	log, path := newLog(t)
	for _, f := range []Filter{{}, {Level: "error"}, {Name: "TOOL"}, {Level: "INFO", Name: "post"}, {Name: "never"}} {
		require.NoError(t, os.RemoveAll(path))
		x := New(log, f)
		for round := range 3 {
			write(t, path, round*700, 700, r)
			var want []Row
			for h, err := range log.Heads(t.Context(), eventslog.Cursor{}) {
				require.NoError(t, err)
				if f.lets(h) {
					want = append(want, RowOf(h))
				}
			}
			for range 20 {
				from, n := r.IntN(len(want)+10), r.IntN(300)
				p, err := x.Page(t.Context(), from, n)
				for ; err == nil && !p.Complete; p, err = x.Page(t.Context(), from, n) {
				}
				require.NoError(t, err)
				require.Equal(t, len(want), p.Known)
				require.Equal(t, append([]Row{}, want[min(from, len(want)):min(from+n, len(want))]...), p.Rows)
			}
		}
	}
}

func TestRewrittenLog(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	log, path := newLog(t)
	write(t, path, 0, 600, r)
	x := New(log, Filter{})
	first, err := x.Page(t.Context(), 590, 100)
	require.NoError(t, err)
	require.Len(t, first.Rows, 10)
	require.NoError(t, os.Remove(path))
	write(t, path, 0, 3, r)
	second, err := x.Page(t.Context(), 0, 100)
	require.NoError(t, err)
	require.Len(t, second.Rows, 3)
	require.Equal(t, first.Epoch+1, second.Epoch)
}

func TestAt(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	log, path := newLog(t)
	write(t, path, 0, 5, r)
	p, err := New(log, Filter{}).Page(t.Context(), 3, 1)
	require.NoError(t, err)
	h, err := ParseAt(p.Rows[0].At)
	require.NoError(t, err)
	line, err := log.Open(t.Context(), h)
	require.NoError(t, err)
	data, err := io.ReadAll(line)
	require.NoError(t, err)
	require.NoError(t, line.Close())
	require.Contains(t, string(data), `{"n": 3}`)

	sum := strings.Repeat("0", 32)
	for _, bad := range []string{"", "1", "a.b.c.d.e", "0.10.5.1." + sum, "-1.10.5.1." + sum, "0.0.0.0." + sum, "0.1.1.1.ff", p.Rows[0].At + ".1"} {
		_, err := ParseAt(bad)
		require.Error(t, err, bad)
	}
	h, err = ParseAt("0.4.5.1." + sum)
	require.NoError(t, err)
	_, err = log.Open(t.Context(), h)
	require.ErrorIs(t, err, eventslog.ErrRewritten)
}

func TestLongNames(t *testing.T) {
	t.Parallel()
	row := RowOf(eventslog.Head{Event: strings.Repeat("ü", 300)})
	require.Equal(t, strings.Repeat("ü", 100)+"…", row.Event)
}
