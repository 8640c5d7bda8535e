package sessionstore_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// These tests are what the agent that analyses sessions relies on, one point
// of its list each.

const sampleProject = "../testdata/samples/projects/-home-ada-weather-report/sessions"

func TestAnalystFilesAtProjectsSessions(t *testing.T) {
	home := t.TempDir()
	home, err := filepath.EvalSymlinks(home)
	require.NoError(t, err)
	project := filepath.Join(t.TempDir(), "weather")
	require.NoError(t, os.Mkdir(project, 0o700))
	project, err = filepath.EvalSymlinks(project)
	require.NoError(t, err)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AMPLIFIER_HOME", "")
	t.Chdir(project)

	st := open(t, "", nil)
	slug := sessionstore.ProjectSlug(project)
	require.Equal(t, filepath.Join(home, ".amplifier", "projects", slug, "sessions"), st.Dir())
	id := sessionstore.NewID()
	require.NoError(t, st.Save(t.Context(), id, parse(t, user("hi")), sessionstore.Metadata{}))
	dir := filepath.Join(home, ".amplifier", "projects", slug, "sessions", id)
	require.FileExists(t, filepath.Join(dir, metadataFile))
	require.FileExists(t, filepath.Join(dir, transcriptFile))

	t.Setenv("AMPLIFIER_HOME", filepath.Join(home, "elsewhere"))
	other, err := sessionstore.DefaultDir(project)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, "elsewhere", "projects", slug, "sessions"), other)
}

func TestAnalystMetadataHasRequiredFields(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, &sessionstore.Options{Now: func() time.Time { return noon }, Workspace: "/home/ada"})
	ctx := t.Context()
	tests := []struct {
		name, bundle string
		do           func(id string) error
	}{
		{"saved without metadata", "unknown", func(id string) error {
			return st.Save(ctx, id, parse(t, user("hi")), sessionstore.Metadata{})
		}},
		{"created", "bundle:foundation", func(id string) error {
			return st.Create(ctx, id, metadata(t, `{"bundle": "bundle:foundation"}`))
		}},
		{"created, then saved", "unknown", func(id string) error {
			return errors.Join(st.Create(ctx, id, sessionstore.Metadata{}), st.Save(ctx, id, parse(t, user("hi")), metadata(t, `{"name": "n"}`)))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, tt.do(tt.name))
			var got struct {
				ID      string `json:"session_id"`
				Created string `json:"created"`
				Bundle  string `json:"bundle"`
			}
			require.NoError(t, json.Unmarshal([]byte(read(t, dir, tt.name, metadataFile)), &got))
			require.Equal(t, tt.name, got.ID)
			require.Equal(t, "2026-11-18T12:00:00+00:00", got.Created)
			require.Equal(t, tt.bundle, got.Bundle)
		})
	}
}

func TestAnalystTranscriptHasMessageObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	text, err := sessionstore.Text("user", "Hello", noon)
	require.NoError(t, err)
	made, err := sessionstore.NewMessage(json.RawMessage(
		`{"role":"assistant","content":"Hi there!","timestamp":"2025-01-31T12:00:01.000Z"}`))
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), "s", []sessionstore.Message{text, made}, sessionstore.Metadata{}))

	require.Equal(t, `{"role": "user", "content": "Hello", "metadata": {"timestamp": "2026-11-18T12:00:00.000+00:00"}}`+"\n"+
		`{"role": "assistant", "content": "Hi there!", "timestamp": "2025-01-31T12:00:01.000Z"}`+"\n", read(t, dir, "s", transcriptFile))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	for _, m := range s.Messages {
		require.NotEmpty(t, m.Role())
		require.NotEmpty(t, m.Content())
		_, ok := m.Timestamp()
		require.True(t, ok)
	}
}

func TestAnalystEventsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(sampleProject)))
	const id = "8f14e45f-ceea-467f-a8d1-3b2a5c7d9e01"
	before := read(t, dir, id, "events.jsonl")
	for line := range strings.Lines(before) {
		var event map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		require.Contains(t, event, "ts")
		require.Contains(t, event, "event")
		require.Equal(t, id, event["session_id"])
	}
	st := open(t, dir, nil)
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), id, append(s.Messages, parse(t, user("more"))...), s.Metadata))
	require.Equal(t, before, read(t, dir, id, "events.jsonl"))
}

func TestAnalystWritesAreAtomicWithBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	first, second := parse(t, user("one")), parse(t, user("one"), user("two"))
	require.NoError(t, st.Save(t.Context(), "s", first, metadata(t, `{"n": 1}`)))
	oldTranscript, oldMetadata := read(t, dir, "s", transcriptFile), read(t, dir, "s", metadataFile)

	// An open file shows what a reader sees that came before the save.
	held, err := os.Open(filepath.Join(dir, "s", metadataFile))
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // where an open file holds its name
		defer func() { require.NoError(t, held.Close()) }()
		require.NoError(t, st.Save(t.Context(), "s", second, metadata(t, `{"n": 2}`)))
		seen := make([]byte, len(oldMetadata)+1)
		n, _ := held.ReadAt(seen, 0)
		require.Equal(t, oldMetadata, string(seen[:n]))
	} else {
		require.NoError(t, held.Close())
		require.NoError(t, st.Save(t.Context(), "s", second, metadata(t, `{"n": 2}`)))
	}
	require.Equal(t, oldTranscript, read(t, dir, "s", transcriptBackup))
	require.Equal(t, oldMetadata, read(t, dir, "s", metadataBackup))
	require.Equal(t, oldTranscript+user("two")+"\n", read(t, dir, "s", transcriptFile))
	require.Len(t, tree(t, filepath.Join(dir, "s")), 4, "no temporary file stays")
}

func TestAnalystIDsCannotTraversePaths(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "projects", "p", "sessions")
	st := open(t, dir, nil)
	for _, id := range []string{"..", "../x", "../../x", "a/../../x", `..\x`, "/x", `C:\x`, "x/"} {
		err := st.Save(t.Context(), id, parse(t, user("hi")), sessionstore.Metadata{})
		require.ErrorIs(t, err, sessionstore.ErrInvalidID, id)
	}
	require.Empty(t, tree(t, base))
}

func TestAnalystTellsTopLevelFromSubSessions(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	parent := sessionstore.NewID()
	sub := sessionstore.NewSubID(parent, "Code Reviewer", "")
	require.True(t, sessionstore.IsTopLevel(parent))
	require.False(t, sessionstore.IsTopLevel(sub))
	for _, id := range []string{parent, sub} {
		require.NoError(t, st.Save(t.Context(), id, parse(t, user("hi")), sessionstore.Metadata{}))
	}
	top, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{parent}, ids(top))
	all, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{parent, sub}, ids(all))
}

func TestAnalystSortsByModificationTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	for i, id := range []string{"a", "b", "c"} {
		require.NoError(t, st.Save(t.Context(), id, parse(t, user("hi")), sessionstore.Metadata{}))
		age(t, dir, id, noon.Add(time.Duration(i)*time.Hour))
	}
	list := func() []string {
		infos, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		return ids(infos)
	}
	require.Equal(t, []string{"c", "b", "a"}, list())
	_, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []string{"c", "b", "a"}, list(), "reading is no modification")
	require.NoError(t, st.Save(t.Context(), "a", parse(t, user("hi"), user("ho")), sessionstore.Metadata{}))
	require.Equal(t, []string{"a", "c", "b"}, list())
}
