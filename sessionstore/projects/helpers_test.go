package projects_test

import (
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	metadataFile     = "metadata.json"
	transcriptFile   = "transcript.jsonl"
	transcriptBackup = "transcript.jsonl.backup"
	markerFile       = "transcript.jsonl.append-pending"
)

var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

func user(text string) string { return `{"role": "user", "content": "` + text + `"}` }

func write(t testing.TB, content string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

// check ends an example that failed.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
