package writertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// tools returns the tool in both languages, for the session in dir.
func tools(t *testing.T, dir string) map[string]Tool {
	t.Helper()
	return map[string]Tool{"Go": &OldTool{Dir: dir}, "Python": StartPython(t, testenv.Python(t), OldScript, 1).In(dir)}
}

// TestTools lets the tools load what may be there, and save.
func TestTools(t *testing.T) {
	t.Parallel()
	one, two := `{"n": 1}`, `{"n": "ä"}`
	tests := []struct {
		name         string
		main, backup string // "": there is no file
		want         Loaded
	}{
		{"nothing", "", "", Loaded{Main: Missing}},
		{"whole", one + "\n\n" + two + "\n", one + "\n", Loaded{Rows: []string{one, two}}},
		{"empty", "\n", one + "\n", Loaded{}},
		{"missing", "", one + "\n", Loaded{Rows: []string{one}, Main: Missing}},
		{"torn", one + "\n{", one + "\n", Loaded{Rows: []string{one}, Main: Torn}},
		{"holes", "\x00\x00\n", one + "\n", Loaded{Rows: []string{one}, Main: Torn}},
		{"both torn", "{", "{", Loaded{Main: Torn}},
	}
	dir := t.TempDir()
	for language, tool := range tools(t, dir) {
		for _, tt := range tests {
			t.Run(language+"/"+tt.name, func(t *testing.T) {
				put(t, filepath.Join(dir, Transcript), tt.main)
				put(t, filepath.Join(dir, TranscriptBackup), tt.backup)
				got, err := tool.Load()
				require.NoError(t, err)
				require.Equal(t, tt.want.Main, got.Main)
				require.ElementsMatch(t, tt.want.Rows, got.Rows)
				saves(t, tool, dir)
			})
		}
	}
}

// put makes content the file, or removes it.
func put(t *testing.T, path, content string) {
	t.Helper()
	if content == "" {
		require.NoError(t, os.RemoveAll(path))
		return
	}
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// saves requires that tool copies over the backup in place, with the time of
// the transcript, and gives that to another file.
func saves(t *testing.T, tool Tool, dir string) {
	t.Helper()
	main, backup := filepath.Join(dir, Transcript), filepath.Join(dir, TranscriptBackup)
	long := strings.Repeat(`{"n": 2}`+"\n", 300)
	require.NoError(t, os.WriteFile(main, []byte(long), 0o600))
	require.NoError(t, os.WriteFile(backup, []byte("old"), 0o600))
	noon := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(main, noon, noon))
	mainWas, backupWas := stat(t, main), stat(t, backup)
	begin := time.Now()
	renamed, err := tool.Save(Transcript, "{}\n")
	require.NoError(t, err)
	require.False(t, renamed.Before(begin.Round(0)) || renamed.After(time.Now().Round(0)))
	require.False(t, os.SameFile(mainWas, stat(t, main)), "another file")
	require.True(t, os.SameFile(backupWas, stat(t, backup)), "in place")
	require.True(t, stat(t, backup).ModTime().Equal(noon))
	data, err := os.ReadFile(backup)
	require.NoError(t, err)
	require.Equal(t, long, string(data))
	data, err = os.ReadFile(main)
	require.NoError(t, err)
	require.Equal(t, "{}\n", string(data))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "no temporary file stays")
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	require.NoError(t, err)
	return fi
}

// TestSteps requires a step before each system call that matters.
func TestSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, Transcript), []byte("{}\n"), 0o600))
	var steps []string
	tool := &OldTool{Dir: dir, Step: func(step string) { steps = append(steps, step) }}
	_, err := tool.Load()
	require.NoError(t, err)
	_, err = tool.Save(Transcript, "{}\n")
	require.NoError(t, err)
	require.Equal(t, []string{
		"open transcript.jsonl", "read transcript.jsonl", "read transcript.jsonl",
		"stat transcript.jsonl", "stat source", "stat backup", "open source", "open backup and empty it",
		"read transcript.jsonl", "write backup", "read transcript.jsonl", "close backup",
		"stat transcript.jsonl for its time", "set time of backup", "set mode of backup",
		"create temporary", "write temporary", "close temporary", "rename over transcript.jsonl",
	}, steps)
}

func TestPauser(t *testing.T) {
	t.Parallel()
	a, b := NewPauser(7, 1), NewPauser(7, 1)
	begin := time.Now()
	for range 20 {
		a.Pause()
		b.Pause()
		require.Equal(t, a.IntN(1000), b.IntN(1000), "the seed fixes the pauses")
		a.Rest(time.Millisecond)
		b.Rest(time.Millisecond)
	}
	require.Greater(t, time.Since(begin), time.Millisecond)
}
