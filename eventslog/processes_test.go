package eventslog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// pythonWriter appends as the reference's logging hook does: the file opened
// anew for each event, one buffered write, no lock.
const pythonWriter = `
import json, random, sys
path, prefix, n, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
r = random.Random(seed)
for i in range(n):
    event = {"ts": "2026-01-01T00:00:00.000+00:00", "lvl": "INFO", "event": f"{prefix}.{i}", "data": {"text": "wörter\n" * (1 << r.randrange(17))}}
    with open(path, "a", encoding="utf-8") as f:
        f.write(json.dumps(event, ensure_ascii=False) + "\n")
    print("done", f"{prefix}.{i}", flush=True)
`

// TestProcesses lets processes append to one log at the same time, of which
// some are in Python: every event is there once and whole.
func TestProcesses(t *testing.T) {
	t.Parallel()
	python := testenv.Python(t)
	r := testenv.Rand(t)
	dir := filepath.Join(t.TempDir(), "sess")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	var all []*testenv.Process
	for i, a := range []appender{
		{Batch: 1, Lanes: 4, Calls: 60},
		{Batch: 20, Lanes: 2, Calls: 15},
		{Batch: 3, Lanes: 4, Calls: 20, Sync: true},
	} {
		a.Dir, a.Prefix, a.Seed = dir, fmt.Sprint("go", i), r.Uint64()
		all = append(all, testenv.Spawn(t, "appender", dir, encoded(t, a)))
	}
	for i := range 2 {
		all = append(all, testenv.Start(t, exec.CommandContext(t.Context(), python, "-c", pythonWriter,
			filepath.Join(dir, fileName), fmt.Sprint("py", i), "200", fmt.Sprint(r.Uint32()))))
	}
	want := map[string]bool{}
	for _, p := range all {
		for _, line := range p.End(t) {
			what, rest, _ := strings.Cut(line, " ")
			require.NotEqual(t, "failed", what, rest)
			if name, count, many := strings.Cut(rest, " "); what == "done" && many {
				n := 0
				_, err := fmt.Sscan(count, &n)
				require.NoError(t, err)
				for i := range n {
					want[fmt.Sprint(name, ".", i)] = true
				}
			} else if what == "done" {
				want[name] = true
			}
		}
	}
	l, err := Open(dir, nil)
	require.NoError(t, err)
	found := map[string]bool{}
	for h, err := range l.Heads(t.Context(), Cursor{}) {
		require.NoError(t, err)
		require.False(t, found[h.Event], h.Event)
		found[h.Event] = true
	}
	require.Equal(t, want, found)
	require.Greater(t, len(found), 900)
	sum, err := l.Summary(t.Context())
	require.NoError(t, err)
	require.Len(t, sum.Types, len(want))
	require.NoError(t, l.Close())
}
