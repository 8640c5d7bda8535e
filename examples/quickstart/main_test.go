package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const repositorySamples = "../../testdata/samples"

// TestSamplesAreTheRepositorys keeps the embedded copy equal to testdata.
func TestSamplesAreTheRepositorys(t *testing.T) {
	t.Parallel()
	embedded, err := fs.Sub(samples, "testdata/samples")
	require.NoError(t, err)
	require.Equal(t, contents(t, os.DirFS(repositorySamples)), contents(t, embedded))
}

func contents(t *testing.T, tree fs.FS) map[string]string {
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		files[name] = string(data)
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

func TestOnCopy(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))

	dirs, err := filepath.Glob(filepath.Join(temp, "quickstart-*", "sessions"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	require.Contains(t, out.String(), dirs[0])
	require.Contains(t, out.String(), "3 sessions, 1 sub-session")
	require.Contains(t, out.String(), "Zürich temperatures")
	checkTurn(t, out.String())
	checkAppended(t, dirs[0], "8f14e45f-ceea-467f-a8d1-3b2a5c7d9e01")
	id := checkOwn(t, dirs[0], out.String(), 5)
	require.Contains(t, out.String(), "watch     another process has seen: "+id+" transcript.jsonl\n")
	require.Contains(t, out.String(), "resume    4 messages stored, 5 messages sent to the model: call_without_result\n")
	checkFork(t, dirs[0], out.String())
	_, next, found := strings.Cut(out.String(), "\nnext ")
	require.True(t, found, "the tour ends with what to do next")
	for _, program := range regexp.MustCompile(`examples/\w+`).FindAllString(next, -1) {
		require.DirExists(t, filepath.Join("../..", program))
	}
}

// checkTurn compares the two checksums in the output.
func checkTurn(t *testing.T, out string) {
	before := regexp.MustCompile(`before +([0-9a-f]{32})\n`).FindStringSubmatch(out)
	after := regexp.MustCompile(`after +([0-9a-f]{32})\n`).FindStringSubmatch(out)
	require.NotNil(t, before, out)
	require.NotNil(t, after, out)
	require.Equal(t, before[1], after[1])
	require.NotContains(t, out, "not the same")
}

// checkAppended looks at what the program left of the sample's session.
func checkAppended(t *testing.T, dir, id string) {
	old := filepath.Join("testdata/samples/projects/-home-ada-weather-report/sessions", id)
	read := func(dir, name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(data)
	}
	now := filepath.Join(dir, id)
	for _, name := range []string{"events.jsonl", "config.md"} {
		require.Equal(t, read(old, name), read(now, name), name)
	}
	for _, name := range []string{"transcript.jsonl", "metadata.json"} {
		require.Equal(t, read(old, name), read(now, name+".backup"), name)
	}
	added, ok := strings.CutPrefix(read(now, "transcript.jsonl"), read(old, "transcript.jsonl"))
	require.True(t, ok)
	require.Equal(t, 2, strings.Count(added, "\n"))
	metadata := strings.Replace(read(old, "metadata.json"), `"turn_count": 4`, `"turn_count": 5`, 1)
	require.Equal(t, metadata, read(now, "metadata.json"))
}

// TestMain is the other process of a tour, too.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-watch") {
		main()
		return
	}
	testenv.InMemory()
	testenv.Main(m, nil)
}

// checkFork loads the session that the program says it forked.
func checkFork(t *testing.T, dir, out string) {
	id := regexp.MustCompile(`(?m)^fork +(\S+): `).FindStringSubmatch(out)
	require.NotNil(t, id, out)
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	s, err := st.Load(t.Context(), id[1])
	require.NoError(t, err)
	require.Len(t, s.Messages, 2)
}

// checkOwn loads the session that the program says it made, which has so many messages.
func checkOwn(t *testing.T, dir, out string, messages int) string {
	id := regexp.MustCompile(`(?m)^make +(\S+): `).FindStringSubmatch(out)
	require.NotNil(t, id, out)
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	s, err := st.Load(t.Context(), id[1])
	require.NoError(t, err)
	require.Len(t, s.Messages, messages)
	require.Equal(t, "Quickstart", s.Metadata.Text("name"))
	require.Equal(t, id[1], s.Metadata.Text("session_id"))
	turns, _ := s.Metadata.Int("turn_count")
	require.Equal(t, (messages+1)/3, turns)
	return id[1]
}

func TestInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var first, second, third bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-dir", dir}, &first))
	require.Contains(t, first.String(), "no sessions here")
	require.NotContains(t, first.String(), "append")
	checkOwn(t, dir, first.String(), 2)

	require.NoError(t, run(t.Context(), []string{"-dir", dir}, &second))
	require.Contains(t, second.String(), "1 session, 0 sub-sessions")
	checkTurn(t, second.String())
	checkOwn(t, dir, second.String(), 2)

	id := regexp.MustCompile(`(?m)^make +(\S+): `).FindStringSubmatch(first.String())[1]
	require.NoError(t, run(t.Context(), []string{"-dir", dir, id[:8]}, &third))
	require.Regexp(t, `(?m)^load +`+id+`: 4 messages`, third.String())
	checkTurn(t, third.String())
}

func TestDamagedSessionIsSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"-dir", dir}, new(bytes.Buffer)))
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.Mkdir(bad, 0o700))
	damaged := []byte("{\"role\": \"user\"\x1b[2J\n")
	require.NoError(t, os.WriteFile(filepath.Join(bad, "transcript.jsonl"), damaged, 0o600))
	later := time.Now().Add(time.Hour) // so that it is the first in the list
	require.NoError(t, os.Chtimes(bad, later, later))

	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-dir", dir}, &out))
	require.Regexp(t, `(?m)^skip .*bad`, out.String())
	require.NotContains(t, out.String(), "\x1b")
	checkTurn(t, out.String())
	now, err := os.ReadFile(filepath.Join(bad, "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, damaged, now)

	require.ErrorIs(t, run(t.Context(), []string{"-dir", dir, "bad"}, &out), sessionstore.ErrCorrupt)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	missing := filepath.Join(t.TempDir(), "missing")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"missing directory", []string{"-dir", missing}, "does not exist"},
		{"file as directory", []string{"-dir", file}, "is not a directory"},
		{"no such session", []string{"-dir", t.TempDir(), "zzz"}, "No session found matching 'zzz'"},
		{"two sessions", []string{"a", "b"}, "expected one session"},
		{"unknown flag", []string{"-x"}, "-x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, run(t.Context(), tt.args, new(bytes.Buffer)), tt.want)
		})
	}
	require.NoDirExists(t, missing)
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-h"}, &out))
	require.Equal(t, usage, out.String())
}

// TestFailureLeavesNothing stops the program before it does anything.
func TestFailureLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, nil, new(bytes.Buffer)), context.Canceled)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
