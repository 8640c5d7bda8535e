package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// usageLogs are the logs of testdata/usage.txtar, which also says what to expect of them.
func usageLogs(t *testing.T) string {
	t.Helper()
	logs, err := txtar.ParseFile("testdata/usage.txtar")
	require.NoError(t, err)
	root := t.TempDir()
	for _, f := range logs.Files {
		writeLog(t, root, f.Name, f.Data, time.Date(2026, 11, 27, 17, 0, 0, 0, time.UTC))
	}
	return root
}

func writeLog(t *testing.T, root, id string, data []byte, changed time.Time) {
	t.Helper()
	dir := filepath.Join(root, "here", "sessions", id)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	log := filepath.Join(dir, "events.jsonl")
	require.NoError(t, os.WriteFile(log, data, 0o600))
	require.NoError(t, os.Chtimes(log, time.Time{}, changed))
}

// runStats runs the command at a time.
func runStats(t *testing.T, root string, at time.Time, c statsCommand, asJSON bool) (stdout, stderr string) {
	t.Helper()
	var out, notes bytes.Buffer
	c.SessionsRoot = root
	none := func(string) string { return "" }
	a := &app{
		Screen: screen.New(screen.Options{Ctx: t.Context(), Out: &out, Err: &notes, Env: none, Colour: "auto"}),
		ctx:    t.Context(), env: none, now: func() time.Time { return at }, json: asJSON, name: "stats",
	}
	require.NoError(t, c.Run(a))
	require.NoError(t, a.close())
	return out.String(), notes.String()
}

var afternoon = time.Date(2026, 11, 27, 17, 30, 0, 0, time.UTC)

// TestDaysInZones has one response of two days.
func TestDaysInZones(t *testing.T) {
	t.Parallel()
	root := usageLogs(t)
	for zone, want := range map[string]string{"UTC": "1000 5500", "America/New_York": "1500 5000", "Europe/Berlin": "600 5900", "Asia/Tokyo": "600 900 5000"} {
		text, _ := runStats(t, root, afternoon, statsCommand{By: "day", TZ: zone}, false)
		var input []string
		for line := range strings.Lines(text) {
			input = append(input, strings.Split(line, "\t")[2])
		}
		require.Equal(t, want, strings.Join(input, " "), zone)
	}
	text, _ := runStats(t, root, afternoon, statsCommand{By: "month"}, false)
	require.Equal(t, "2026-11\t7\t6500\t2500\t550\t0\t1\t0.000\t0.65\n", text)
}

// TestStatusLine has one line, of logs that changed lately.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	root := usageLogs(t)
	line := func(at time.Time, zone string) string {
		text, notes := runStats(t, root, at, statsCommand{Line: true, TZ: zone}, false)
		require.Empty(t, notes)
		return text
	}
	require.Equal(t, "today $0.61, 6.5k tokens\n", line(afternoon, "UTC"))
	require.Equal(t, "today $0.62, 6.9k tokens\n", line(afternoon, "Europe/Berlin"))
	require.Equal(t, "today 0 tokens\n", line(afternoon.AddDate(0, 0, 1), "UTC"))

	// Hours before midnight do not count.
	response := func(id, at string) []byte {
		return []byte(`{"ts": "` + at + `", "event": "llm:response", "session_id": "` + id + `", "data": {"model": "m", "usage": {"input_tokens": 1}}}` + "\n")
	}
	night := time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)
	writeLog(t, root, "evening", append(response("evening", "2026-11-28T23:59:59Z"), response("evening", "2026-11-29T00:00:00Z")...), night)
	writeLog(t, root, "late", append(response("late", "2026-11-29T00:30:00Z"), response("late", "2026-11-29T01:10:00Z")...), night)
	require.Equal(t, "today 3 tokens\n", line(night, "UTC"))

	// Sessions whose logs did not change are not read, whatever they say, and if they are damaged.
	writeLog(t, root, "old", response("old", "2026-11-29T01:20:00Z"), night.AddDate(0, 0, -9))
	require.NoError(t, os.WriteFile(filepath.Join(root, "here", "sessions", "old", "metadata.json"), []byte("{damaged"), 0o600))
	require.Equal(t, "today 3 tokens\n", line(night, "UTC"))
}
