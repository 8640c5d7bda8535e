package cli

import (
	"bytes"
	"encoding/json"
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

// TestBlocks has the answers of testdata/usage.txtar.
func TestBlocks(t *testing.T) {
	t.Parallel()
	root := usageLogs(t)
	c := statsCommand{By: "block", TZ: "UTC"}
	text, _ := runStats(t, root, afternoon, c, false)
	require.Equal(t, "2026-11-26T08:00:00Z\t2\t300\t0\t20\t0\t0\t0.000\t0.02\n"+
		"2026-11-26T13:00:00Z\t1\t300\t0\t10\t0\t1\t0.000\t0.01\n"+
		"2026-11-26T23:00:00Z\t2\t900\t0\t20\t0\t0\t0.000\t0.02\n"+
		"2026-11-27T15:00:00Z\t2\t5000\t2500\t500\t0\t0\t0.000\t0.60\n", text)

	type row struct {
		Key    string
		Input  int64 `json:"input_tokens"`
		Window map[string]any
	}
	var answer struct{ Rows []row }
	text, _ = runStats(t, root, afternoon, c, true)
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	rows := answer.Rows
	require.Len(t, rows, 4)
	require.Equal(t, map[string]any{
		"end": "2026-11-26T13:00:00Z", "last": "2026-11-26T13:00:00Z", "active": false,
	}, rows[0].Window)
	require.Equal(t, row{"2026-11-27T15:00:00Z", 5000, map[string]any{
		"end": "2026-11-27T20:00:00Z", "last": "2026-11-27T16:45:00Z", "active": true,
		"tokens_per_minute": 100.0, "cost_per_hour": 0.6, "projected_tokens": 21000.0, "projected_cost": 2.1,
	}}, rows[3])
	// Blocks are those that begin in a time, wherever that cuts the log.
	starts := func(after, before string) (starts string) {
		text, _ := runStats(t, root, afternoon, statsCommand{By: "block", TZ: "UTC", After: after, Before: before}, false)
		for line := range strings.Lines(text) {
			starts += line[len("2026-11-"):len("2026-11-26T08")] + " "
		}
		return starts
	}
	require.Equal(t, "26T08 26T13 26T23 27T15 ", starts("", ""))
	require.Equal(t, "26T13 26T23 27T15 ", starts("2026-11-26T12:00", ""))
	require.Equal(t, "27T15 ", starts("2026-11-27", ""))
	require.Equal(t, "27T15 ", starts("2026-11-27T15:00", ""))
	require.Empty(t, starts("2026-11-27T16:00", ""))
	require.Equal(t, "26T08 26T13 26T23 ", starts("", "2026-11-27"))
	require.Equal(t, "26T23 ", starts("2026-11-26T20:00", "2026-11-27"))
}

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
	require.Equal(t, "today $0.61, 6.5k tokens | block $0.60, 6.0k tokens, 2h 30m left, $0.60/h, $2.10 at its end\n", line(afternoon, "UTC"))
	require.Equal(t, "today $0.62, 6.9k tokens | block $0.60, 6.0k tokens, 2h 30m left, $0.60/h, $2.10 at its end\n", line(afternoon, "Europe/Berlin"))
	require.Equal(t, "today 0 tokens | no block\n", line(afternoon.AddDate(0, 0, 1), "UTC"))

	// Hours after midnight belong to the block that began before it, also where another
	// session used it, which did not go on.
	response := func(id, at string) []byte {
		return []byte(`{"ts": "` + at + `", "event": "llm:response", "session_id": "` + id + `", "data": {"model": "m", "usage": {"input_tokens": 1}}}` + "\n")
	}
	night := time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)
	writeLog(t, root, "evening", response("evening", "2026-11-28T20:50:00Z"), night.Add(-310*time.Minute))
	writeLog(t, root, "late", append(response("late", "2026-11-29T00:30:00Z"), response("late", "2026-11-29T01:10:00Z")...), night)
	require.Equal(t, "today 2 tokens | block 1 tokens, 4h 00m left\n", line(night, "UTC"))

	// Sessions whose logs did not change are not read, whatever they say, and if they are damaged.
	writeLog(t, root, "old", response("old", "2026-11-29T01:20:00Z"), night.AddDate(0, 0, -9))
	require.NoError(t, os.WriteFile(filepath.Join(root, "here", "sessions", "old", "metadata.json"), []byte("{damaged"), 0o600))
	require.Equal(t, "today 2 tokens | block 1 tokens, 4h 00m left\n", line(night, "UTC"))
}
