package sessionstore_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

const (
	transcriptFile   = "transcript.jsonl"
	transcriptBackup = "transcript.jsonl.backup"
	metadataFile     = "metadata.json"
	metadataBackup   = "metadata.json.backup"
)

var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// open opens a store for the length of the test.
func open(t testing.TB, dir string, opts *sessionstore.Options) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func openProjects(t testing.TB, dir string) *projects.Projects {
	t.Helper()
	p, err := projects.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// parse makes messages of lines.
func parse(t testing.TB, lines ...string) []sessionstore.Message {
	t.Helper()
	rows := make([]sessionstore.Message, len(lines))
	for i, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		rows[i] = m
	}
	return rows
}

// lines is the inverse of parse.
func lines(rows []sessionstore.Message) []string {
	all := make([]string, len(rows))
	for i, m := range rows {
		all[i] = string(m.AppendTo(nil))
	}
	return all
}

func metadata(t testing.TB, text string) sessionstore.Metadata {
	t.Helper()
	md, err := sessionstore.ParseMetadata([]byte(text))
	require.NoError(t, err)
	return md
}

// user is the transcript line of a user who says text.
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

// tree returns the content of every file below dir by its path from there;
// the library's own bookkeeping is left out.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && filepath.Dir(path) == dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.Type()&os.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			files[filepath.ToSlash(rel)] = "-> " + to
			return err
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return files
}

// withPrefix returns the one file of files whose name begins with prefix.
func withPrefix(t testing.TB, files map[string]string, prefix string) string {
	t.Helper()
	var found []string
	for name := range files {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	require.Len(t, found, 1, prefix)
	return files[found[0]]
}

// symlink makes a symlink; some systems let only administrators do so.
func symlink(t testing.TB, to string, from ...string) {
	t.Helper()
	require.NoError(t, os.Symlink(to, filepath.Join(from...)))
}

// age sets the modification time of the session's directory.
func age(t testing.TB, dir, id string, at time.Time) {
	t.Helper()
	require.NoError(t, os.Chtimes(filepath.Join(dir, id), at, at))
}

func ids(infos []sessionstore.Info) []string {
	all := make([]string, len(infos))
	for i, info := range infos {
		all[i] = info.ID
	}
	return all
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
