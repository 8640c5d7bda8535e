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
	require.NoError(t, run(t.Context(), &out))

	dirs, err := filepath.Glob(filepath.Join(temp, "quickstart-*", "sessions"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	require.Contains(t, out.String(), dirs[0])
	require.Equal(t, 3, strings.Count(out.String(), "\nlist "))
	require.Contains(t, out.String(), "Zürich temperatures")
	checkAppended(t, dirs[0], "8f14e45f-ceea-467f-a8d1-3b2a5c7d9e01")
	id := checkOwn(t, dirs[0], out.String())
	require.Contains(t, out.String(), "watch     another process has seen: "+id+" transcript.jsonl\n")
	require.Contains(t, out.String(), "resume    2 messages stored, 3 sent to the model: call_without_result\n")
	checkFork(t, dirs[0], out.String())
	_, next, found := strings.Cut(out.String(), "\nnext ")
	require.True(t, found, "the tour ends with what to do next")
	for _, program := range regexp.MustCompile(`examples/\w+`).FindAllString(next, -1) {
		require.DirExists(t, filepath.Join("../..", program))
	}
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
	// The count of turns was 4 and is 4: the older tool also counted a row that a program wrote.
	for _, name := range []string{"events.jsonl", "config.md", "metadata.json"} {
		require.Equal(t, read(old, name), read(now, name), name)
	}
	require.Equal(t, read(old, "transcript.jsonl"), read(now, "transcript.jsonl.backup"))
	added, ok := strings.CutPrefix(read(now, "transcript.jsonl"), read(old, "transcript.jsonl"))
	require.True(t, ok)
	require.Equal(t, 2, strings.Count(added, "\n"))
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
	require.Len(t, s.Messages, 6)
}

// checkOwn loads the session that the program says it made.
func checkOwn(t *testing.T, dir, out string) string {
	id := regexp.MustCompile(`(?m)^make +(\S+): `).FindStringSubmatch(out)
	require.NotNil(t, id, out)
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	s, err := st.Load(t.Context(), id[1])
	require.NoError(t, err)
	require.Len(t, s.Messages, 3)
	require.Equal(t, id[1], s.Metadata.Text("session_id"))
	turns, _ := s.Metadata.Int("turn_count")
	require.Equal(t, 1, turns)
	return id[1]
}

// TestFailureLeavesNothing stops the program before it does anything.
func TestFailureLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, new(bytes.Buffer)), context.Canceled)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
