package sessionstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestSummaryMembers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("<system-reminder>no")+"\n"+
		user("\\u202eHello\\u0007 there\\nsecond")+"\n"+
		`{"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}`+"\n"+
		`{"role": "tool", "tool_call_id": "a", "content": "x"}`+"\n", dir, "s", transcriptFile)
	write(t, `{"session_id": "s", "created": "2026-11-18T12:00:00+00:00", "model": "m", "bundle": "bundle:b", "working_dir": "/w"}`, dir, "s", metadataFile)
	st := open(t, dir, nil)
	for range 3 {
		s, err := st.Summary(t.Context(), "s")
		require.NoError(t, err)
		info, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		require.True(t, s.Created.Equal(noon))
		s.Created = noon
		require.Equal(t, sessionstore.Summary{
			ID: "s", Title: "Hello there", FirstPrompt: "Hello there\nsecond", Turns: 2, Prompts: 1, Messages: 4,
			Bytes: int64(len(read(t, dir, "s", transcriptFile))), Created: noon, Changed: info[0].Modified, Model: "m", Bundle: "b", WorkingDir: "/w", Unanswered: 1,
		}, s)
	}
}

// TestSummariesAreInListsOrder compares the rows with List's, which are more than one
// portion.
func TestSummariesAreInListsOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 40 {
		id := fmt.Sprintf("s%02d", n*7%40)
		if n%5 == 0 {
			id += "_sub"
		}
		write(t, user(id)+"\n", dir, id, transcriptFile)
		at := noon.Add(time.Duration(n/3) * time.Second) // some have the same time
		require.NoError(t, os.Chtimes(filepath.Join(dir, id), at, at))
	}
	st := open(t, dir, nil)
	for range 2 {
		for _, o := range []*sessionstore.ListOptions{nil, {All: true}, {Limit: 1}, {Limit: 20}, {All: true, Limit: 35}, {Limit: 100}} {
			infos, err := st.List(t.Context(), o)
			require.NoError(t, err)
			var want, got []sessionstore.Info
			want = append(want, infos...)
			for s, err := range st.Summaries(t.Context(), o) {
				require.NoError(t, err)
				require.Equal(t, s.ID, s.Title)
				got = append(got, sessionstore.Info{ID: s.ID, Modified: s.Changed})
			}
			require.Equal(t, want, got, "%+v", o)
		}
	}
}

// TestSummariesBeginAtOnce changes and removes sessions when the first row is there: none
// of them was looked at before.
func TestSummariesBeginAtOnce(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "-p", "sessions")
	const sessions = 20
	id := func(n int) string { return fmt.Sprintf("s%02d", n) }
	for n := range sessions {
		write(t, user("before")+"\n", dir, id(n), transcriptFile)
		at := noon.Add(-time.Duration(n) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, id(n)), at, at))
	}
	round, rows := 0, 0
	row := func(s sessionstore.Summary, err error) {
		require.NoError(t, err)
		require.Equal(t, id(rows), s.ID)
		if rows++; rows == 1 {
			for n := 1; n < sessions; n++ {
				write(t, user(fmt.Sprint("after ", round))+"\n", dir, id(n), transcriptFile)
			}
			require.NoError(t, os.RemoveAll(filepath.Join(dir, id(sessions-1-round))))
			return
		}
		require.Equal(t, fmt.Sprint("after ", round), s.Title)
	}
	for s, err := range open(t, dir, nil).Summaries(t.Context(), nil) {
		row(s, err)
	}
	require.Equal(t, sessions-1, rows)
	round, rows = 1, 0
	p := openProjects(t, top)
	for s, err := range p.Summaries(t.Context(), nil) {
		row(s.Summary, err)
	}
	require.Equal(t, sessions-2, rows)
}

// TestSummariesOfManyProjects has more projects than are open at once, of which some
// have no sessions directory. A second p has an index.
func TestSummariesOfManyProjects(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	var want []string
	for n := range 90 {
		slug := fmt.Sprintf("-p%02d", n)
		if n%9 == 4 {
			require.NoError(t, os.Mkdir(filepath.Join(top, slug), 0o700))
			continue
		}
		dir := filepath.Join(top, slug, "sessions")
		write(t, user(slug)+"\n", dir, "s", transcriptFile)
		at := noon.Add(-time.Duration(n*37%90) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "s"), at, at))
		want = append(want, slug)
	}
	slices.SortFunc(want, func(a, b string) int {
		var x, y int
		_, err := fmt.Sscanf(a+b, "-p%d-p%d", &x, &y)
		require.NoError(t, err)
		return x*37%90 - y*37%90
	})
	for range 2 {
		var got []string
		for s, err := range openProjects(t, top).Summaries(t.Context(), nil) {
			require.NoError(t, err)
			require.Equal(t, s.Project, s.Title)
			got = append(got, s.Project)
		}
		require.Equal(t, want, got)
	}
}

// TestSummaryLengths counts characters, not bytes.
func TestSummaryLengths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("é\u2066語", 600)
	write(t, user(long)+"\n", dir, "s", transcriptFile)
	st := open(t, dir, nil)
	shown := strings.Repeat("é語", 250)
	s, err := st.Summary(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, shown, s.FirstPrompt)
	require.Equal(t, strings.Repeat("é語", 60), s.Title)
	write(t, `{"name": "`+strings.Repeat("name ", 100)+`"}`, dir, "s", metadataFile)
	s, err = st.Summary(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, shown, s.FirstPrompt)
	require.Equal(t, strings.TrimSpace(strings.Repeat("name ", 24)), s.Title)
}

// Latest passes over what is no session to go on with.
func TestLatest(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	_, err := st.Latest(t.Context())
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	at := time.Now().Add(-time.Hour)
	for _, s := range []struct{ id, metadata string }{
		{"first", `{}`}, {"last", `{}`}, {"first_sub", `{}`}, {"hidden", `{"session_visibility": "internal"}`}, {"broken", ""},
	} {
		dir := filepath.Join(st.Dir(), s.id)
		require.NoError(t, os.Mkdir(dir, 0o700))
		if s.metadata == "" {
			require.NoError(t, os.Mkdir(filepath.Join(dir, "transcript.jsonl"), 0o700))
		} else {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(user("1")+"\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(s.metadata), 0o600))
		}
		at = at.Add(time.Minute)
		require.NoError(t, os.Chtimes(dir, at, at))
	}
	latest, err := st.Latest(t.Context())
	require.NoError(t, err)
	require.Equal(t, "last", latest.ID)
}
