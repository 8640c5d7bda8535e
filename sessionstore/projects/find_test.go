package projects_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// createdAt writes the metadata of a session that was created at a time.
func createdAt(t *testing.T, created string, path ...string) {
	t.Helper()
	write(t, `{"created": "`+created+`"}`, filepath.Join(path...), metadataFile)
}

// names are the base names of the directories that were found.
func names(found []projects.Found) []string {
	all := []string{}
	for _, f := range found {
		all = append(all, filepath.Base(f.Dir))
	}
	return all
}

func find(t *testing.T, dir string, q projects.Query) []string {
	t.Helper()
	found, err := openProjects(t, dir).Find(t.Context(), q)
	require.NoError(t, err)
	return names(found)
}

func TestFindInProjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := filepath.Join(dir, "-home-a", "sessions")
	write(t, `{"created": "2026-01-02T05:00:00+09:00", "session_id": "weird", "bundle": "bundle:b", "model": "m"}`, sessions, "s", metadataFile)
	write(t, user("x"), sessions, "no-metadata", transcriptFile)
	write(t, `{"session_id": null, "created": 7, "bundle": 1, "model": null}`, sessions, "s_sub", metadataFile)
	write(t, "{}", sessions, "file")
	write(t, "{}", sessions, ".hidden", metadataFile)
	found, err := openProjects(t, dir).Find(t.Context(), projects.Query{})
	require.NoError(t, err)
	require.Equal(t, []projects.Found{
		{
			ID: "weird", Project: "-home-a", Dir: filepath.Join(sessions, "s"),
			Created: found[0].Created, CreatedText: "2026-01-02T05:00:00+09:00", Bundle: "bundle:b", Model: "m", Tool: "native",
		},
		{ID: ".hidden", Project: "-home-a", Dir: filepath.Join(sessions, ".hidden"), Tool: "native"},
		{ID: "s_sub", Project: "-home-a", Dir: filepath.Join(sessions, "s_sub"), Tool: "native"},
	}, found)
	require.True(t, found[0].Created.Equal(time.Date(2026, 1, 1, 20, 0, 0, 0, time.UTC)))
}

func TestFindOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, created := range map[string]string{
		"a": "2026-01-01T00:00:00Z",
		"b": "2026-01-01T00:30:00+01:00", // before a
		"c": "20260102",
		"d": "2026-01-01T01:00:00+01:00", // with a, a larger text
		"e": "nope",
		"f": "2026-01-01T", // no time
		"g": "",
		"h": "0001-01-01T00:00:00",
		"i": "2026-01-01T00:00:00Z", // as a
	} {
		createdAt(t, created, dir, "p", "sessions", name)
	}
	require.Equal(t, []string{"e", "c", "d", "a", "i", "b", "f", "h", "g"}, find(t, dir, projects.Query{}))
	require.Equal(t, []string{"e", "c"}, find(t, dir, projects.Query{Limit: 2}))
	require.Len(t, find(t, dir, projects.Query{Limit: -1}), 9)
}

func TestFindFilters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	createdAt(t, "2026-01-01T00:00:00", dir, "p", "sessions", "one")
	createdAt(t, "2026-01-02T00:00:00", dir, "p", "sessions", "two")
	createdAt(t, "2026-01-03T00:00:00", dir, "q", "sessions", "three")
	createdAt(t, "nope", dir, "q", "sessions", "no-time")
	write(t, user("a needle")+"\n", dir, "p", "sessions", "two", transcriptFile)
	write(t, "{torn\n"+user("NEEDLE"), dir, "q", "sessions", "three", transcriptFile)
	write(t, user("needle"), dir, "p", "sessions", "one", "events.jsonl")
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name  string
		query projects.Query
		want  []string
	}{
		{"all", projects.Query{}, []string{"no-time", "three", "two", "one"}},
		{"project", projects.Query{Project: "p"}, []string{"two", "one"}},
		{"no such project", projects.Query{Project: "r"}, []string{}},
		{"after", projects.Query{After: day(2)}, []string{"no-time", "three"}},
		{"before", projects.Query{Before: day(2)}, []string{"no-time", "one"}},
		{"between", projects.Query{After: day(1), Before: day(3)}, []string{"no-time", "two"}},
		{"keyword", projects.Query{Keyword: "Needle"}, []string{"three", "two"}},
		{"keyword and limit", projects.Query{Keyword: "Needle", Limit: 1}, []string{"three"}},
		{"keyword nowhere", projects.Query{Keyword: "haystack"}, []string{}},
		{"keyword and project", projects.Query{Keyword: `"role": "user"`, Project: "p"}, []string{"two"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, find(t, dir, tt.query))
		})
	}
	for _, slug := range []string{"..", ".", "p/../q", `p\q`} {
		_, err := openProjects(t, dir).Find(t.Context(), projects.Query{Project: slug})
		require.ErrorContains(t, err, "invalid project name", slug)
	}
	require.NoDirExists(t, filepath.Join(dir, "r"))
}

func TestFindReportsDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := filepath.Join(dir, "p", "sessions")
	createdAt(t, "2026-01-01", sessions, "good")
	write(t, user("needle"), sessions, "good", transcriptFile)
	write(t, "{", sessions, "torn", metadataFile)
	write(t, "[]", sessions, "list", metadataFile)
	write(t, "\xff", sessions, "bytes", metadataFile)
	require.NoError(t, os.MkdirAll(filepath.Join(sessions, "directory", metadataFile), 0o700))
	createdAt(t, "2026-01-02", sessions, "mixed")
	write(t, "\"\xff\"\n"+user("needle"), sessions, "mixed", transcriptFile)
	createdAt(t, "2026-01-03", sessions, "unreadable")
	write(t, user("needles?")+"\n\"\xff\"\n", sessions, "unreadable", transcriptFile)

	p := openProjects(t, dir)
	found, err := p.Find(t.Context(), projects.Query{})
	require.Equal(t, []string{"unreadable", "mixed", "good"}, names(found))
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.ElementsMatch(t, []string{"torn", "list", "bytes", "directory"}, failed(err))

	found, err = p.Find(t.Context(), projects.Query{Keyword: "needle\""})
	require.Equal(t, []string{"mixed", "good"}, names(found), "a row that can be read is found")
	require.ElementsMatch(t, []string{"torn", "list", "bytes", "directory", "unreadable"}, failed(err))
	require.ErrorContains(t, err, "line 2 at byte 40: not UTF-8")
	require.NotContains(t, err.Error(), "needle", "no content")
}

// failed are the sessions that the joined err is about.
func failed(err error) (ids []string) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, one := range joined.Unwrap() {
		if e := (*sessionstore.Error)(nil); errors.As(one, &e) {
			ids = append(ids, e.Session)
		}
	}
	return ids
}

func TestFindMatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, created := range map[string]string{"a": "2026-01-04", "b": "2026-01-03", "c": "2026-01-02", "d": "2026-01-01"} {
		createdAt(t, created, dir, "p", "sessions", name)
		write(t, user(name)+"\n", dir, "p", "sessions", name, transcriptFile)
	}
	broken := errors.New("broken")
	var asked []string
	match := func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
		asked = append(asked, id)
		if id == "b" {
			return true, broken
		}
		s, err := st.Load(ctx, id)
		return err == nil && s.Messages[0].Content() != "a", err
	}
	p := openProjects(t, dir)
	found, err := p.Find(t.Context(), projects.Query{Match: match, Limit: 1, Keyword: "user"})
	require.Equal(t, []string{"c"}, names(found))
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, sessionstore.ErrCorrupt)
	require.Equal(t, []string{"b"}, failed(err))
	require.Equal(t, []string{"a", "b", "c"}, asked, "in order, up to the limit")
}

func TestFindDuringAppend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session := filepath.Join(dir, "p", "sessions", "s")
	createdAt(t, "2026-01-01", session)
	write(t, user("half"), session, transcriptFile)
	write(t, user("whole"), session, transcriptBackup)
	require.Equal(t, []string{"s"}, find(t, dir, projects.Query{Keyword: "half"}))
	write(t, "{}", session, markerFile)
	require.Empty(t, find(t, dir, projects.Query{Keyword: "half"}))
	require.Equal(t, []string{"s"}, find(t, dir, projects.Query{Keyword: "whole"}))
}

func TestFindStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		createdAt(t, "2026-01-01", dir, "p", "sessions", name)
		write(t, user("x"), dir, "p", "sessions", name, transcriptFile)
	}
	p := openProjects(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := p.Find(ctx, projects.Query{Match: func(context.Context, *sessionstore.Store, string) (bool, error) {
		cancel()
		return true, nil
	}})
	require.ErrorIs(t, err, context.Canceled)
	found, err := p.Find(ctx, projects.Query{Project: "p", Keyword: "x"})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, found)
}

func TestFindBySymlink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir := t.TempDir()
	sessions := filepath.Join(dir, "p", "sessions")
	createdAt(t, "2026-01-01", sessions, "good")
	createdAt(t, "2026-01-01", dir, "elsewhere")
	require.NoError(t, os.Symlink("good", filepath.Join(sessions, "inside")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(sessions, "outside")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(sessions, "broken")))
	found, err := openProjects(t, dir).Find(t.Context(), projects.Query{})
	require.Equal(t, []string{"good", "inside"}, names(found))
	require.Equal(t, []string{"broken", "outside"}, failed(err))
}
