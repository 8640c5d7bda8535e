package slice_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

const (
	transcriptFile = "transcript.jsonl"
	metadataFile   = "metadata.json"
	eventsFile     = "events.jsonl"
	parentID       = "parent"
)

// noon is the time of the stores of these tests.
func noon() time.Time { return time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC) }

// targets returns the targets of providers.
func targets(providers ...accept.Provider) (all []accept.Target) {
	for _, p := range providers {
		all = append(all, accept.Target{Provider: p})
	}
	return all
}

// openStore opens a store in a new directory, or in dir.
func openStore(t testing.TB, dir string) *sessionstore.Store {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "sessions")
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Now: noon, Workspace: "/w"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// put writes files of a session as another tool does.
func put(t testing.TB, st *sessionstore.Store, id string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(st.Dir(), id)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for name, data := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
}

// get returns the files of a session, nil when there is none.
func get(t testing.TB, st *sessionstore.Store, id string) map[string]string {
	t.Helper()
	return filesIn(t, filepath.Join(st.Dir(), id))
}

func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

// at is a time of the conversation, so many seconds after its beginning.
func at(second int) string {
	return noon().Add(time.Duration(second) * time.Second).Format("2006-01-02T15:04:05.000+00:00")
}

// said is a row as today's context module writes it.
func said(role, text string, second int) string {
	return `{"role": "` + role + `", "content": "` + text + `", "metadata": {"timestamp": "` + at(second) + `"}}` + "\n"
}

// called is a row of an assistant that calls a tool.
func called(id string, second int) string {
	return `{"role": "assistant", "content": null, "tool_calls": [{"id": "` + id + `", "type": "function", "function": {"name": "f", "arguments": "{}"}}], "metadata": {"timestamp": "` + at(second) + `"}}` + "\n"
}

// logged is an event of the parent.
func logged(second int) string {
	return `{"ts": "` + at(second) + `", "lvl": "INFO", "event": "tool:pre", "session_id": "` + parentID + `", "data": {}}` + "\n"
}

// Three turns, of which the last lacks a result.
var (
	firstTwo   = said("user", "eins <ü>", 1) + said("assistant", "a", 2) + said("user", "zwei", 3) + said("assistant", "b", 4)
	brokenRows = firstTwo + said("user", "drei", 5) + called("t1", 6)
	allEvents  = logged(0) + logged(1) + logged(2) + logged(3) + logged(4) + logged(5) + logged(6) + logged(7)
	twoEvents  = logged(0) + logged(1) + logged(2) + logged(3) + logged(4)
	parentMeta = `{"session_id": "parent", "bundle": "bundle:b", "turn_count": 3, "working_dir": "/w"}`
)

// broken makes the session of brokenRows.
func broken(t testing.TB, st *sessionstore.Store) {
	t.Helper()
	put(t, st, parentID, map[string]string{transcriptFile: brokenRows, metadataFile: parentMeta, eventsFile: allEvents})
}

// repairedRows is the same, repaired.
var repairedRows = brokenRows +
	`{"role": "tool", "tool_call_id": "t1", "name": "f", "content": "{\"error\": \"unknown_error\", \"message\": \"Tool execution was interrupted and no result was captured.\"}"}` + "\n" +
	`{"role": "assistant", "content": [{"type": "text", "text": "The previous tool calls were interrupted. This response was automatically repaired."}]}` + "\n"

// renamed are events of the parent in the log of its fork.
func renamed(events, id string) string {
	return strings.ReplaceAll(events, `"session_id": "parent", "data": {}}`, `"session_id": "`+id+`", "data": {}, "parent_session_id": "parent"}`)
}
