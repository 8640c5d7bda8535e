package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layOut makes a data folder with a transcript of 12 messages, three sessions
// and a log of 40 events, and tells the driver of it.
func layOut(t *testing.T) (work string) {
	t.Helper()
	folder := t.TempDir()
	var rows strings.Builder
	for i := range 6 {
		fmt.Fprintf(&rows, `{"role": "user", "content": "ask %d", "timestamp": "2026-01-05T10:00:%02d+00:00"}`+"\n", i, i)
		fmt.Fprintf(&rows, `{"role": "assistant", "content": [{"type": "text", "text": "answer %d"}]}`+"\n", i)
	}
	var log strings.Builder
	for i := range 40 {
		fmt.Fprintf(&log, `{"ts": "2026-01-05T10:00:%02d.000000+00:00", "lvl": "INFO", "event": "tool:pre", "session_id": "s", "data": {"n": %d}}`+"\n", i, i)
	}
	files := map[string]string{"t12.jsonl": rows.String(), "ev.jsonl": log.String()}
	for i := range 3 {
		id := filepath.Join("base3", strconv.Itoa(i)+"f2c4d6a8-session")
		files[filepath.Join(id, "metadata.json")] = metadata
		files[filepath.Join(id, "transcript.jsonl")] = rows.String()
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	work = t.TempDir()
	t.Setenv("BENCH_DATA", folder)
	t.Setenv("BENCH_WORK", work)
	return work
}

// The line that is printed is what programs outside read.
func TestOperations(t *testing.T) {
	work := layOut(t)
	tests := []struct {
		args string
		n    int
	}{
		{"save 12 3 durable", 12},
		{"savemeta 12 3 durable", 12},
		{"append 12 3 relaxed", 12},
		{"rewrite 12 2 durable", 12},
		{"load 12 2", 12},
		{"reload 12 2", 12},
		{"decode 12 2", 12},
		{"list 3 2", 3},
		{"listmeta 3 2", 3},
		{"listmetafirst 3 2", 3},
		{"summaries 3 2", 3},
		{"summariesfirst 3 2", 3},
		{"summariesone 3 2", 3},
		{"summariesrows 3 2", 3},
		{"find 3 2", 3},
		{"keyword 3 2", 3},
		{"summary ev.jsonl 2", 40},
		{"slice ev.jsonl 2", 40},
		{"slicenew ev.jsonl 2", 40},
		{"at ev.jsonl 2 40", 40},
		{"fork 12 2", 12},
		{"diagnose 12 2", 12},
		{"info 12 2", 12},
		{"deep 20 2", 20},
		{"limit-append 1 3 durable", 1},
		{"limit-read ev.jsonl 2", 0},
		{"limit-scan ev.jsonl 2", 40},
		{"limit-list 3 2", 3},
		{"limit-copy ev.jsonl 2 durable", 4670},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var out bytes.Buffer
			args := strings.Fields(tt.args)
			require.NoError(t, bench(args, &out))
			var got map[string]any
			require.NoError(t, json.Unmarshal(out.Bytes(), &got), out.String())
			require.Equal(t, 1, strings.Count(out.String(), "\n"))
			require.Len(t, got, 4)
			require.Equal(t, args[0], got["op"])
			require.EqualValues(t, tt.n, got["n"])
			require.Greater(t, got["median_s"], 0.0)
			require.Contains(t, got, "rss_mib")
			left, err := os.ReadDir(work)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
	require.Len(t, operations, len(tests))
}

// The time of the processors is measured, too.
func TestProcessorTime(t *testing.T) {
	layOut(t)
	t.Setenv("BENCH_CPU", "1")
	var out bytes.Buffer
	require.NoError(t, bench([]string{"load", "12", "50"}, &out))
	require.Contains(t, out.String(), `"cpu_s":`)
	from := processorTime()
	for processorTime() == from { // it moves on while this works
	}
}

func TestWrongArguments(t *testing.T) {
	layOut(t)
	for _, args := range []string{
		"", "nothing", "save", "save 12", "save 12 3", "save 12 3 somehow", "save 0 3 durable", "save x 3 durable",
		"load 12 0", "summary", "summary ev.jsonl", "find 3",
	} {
		t.Run(args, func(t *testing.T) {
			var out bytes.Buffer
			require.ErrorIs(t, bench(strings.Fields(args), &out), errUsage)
			require.Empty(t, out.String())
		})
	}
	require.Error(t, bench([]string{"load", "13", "2"}, &bytes.Buffer{}))
}
