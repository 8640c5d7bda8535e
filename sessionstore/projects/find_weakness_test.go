package projects_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The tests below are named after weaknesses of the reference that are listed
// in the description of the format.

// TestWeakness14OneBadSessionHidesNone searches among sessions each of which
// ends a search of the reference.
func TestWeakness14OneBadSessionHidesNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := filepath.Join(dir, "p", "sessions")
	for _, id := range []string{"a", "z"} {
		createdAt(t, "2026-01-01", sessions, id)
		write(t, user("needle"), sessions, id, transcriptFile)
	}
	write(t, `["created"]`, sessions, "list", metadataFile)
	write(t, `"text"`, sessions, "string", metadataFile)
	write(t, `{"created": 7}`, sessions, "number", metadataFile)
	write(t, user("needle"), sessions, "number", transcriptFile)
	write(t, `{"created": {"at": "2026"}}`, sessions, "object", metadataFile)
	createdAt(t, "2026-01-01", sessions, "latin1")
	write(t, "{\"role\": \"user\", \"content\": \"caf\xe9\"}\n", sessions, "latin1", transcriptFile)
	createdAt(t, "2026-01-01", sessions, "digits")
	write(t, `{"role": "user", "n": `+strings.Repeat("9", 5000)+"}\n"+user("needle"), sessions, "digits", transcriptFile)
	createdAt(t, "2026-01-01", sessions, "deep")
	write(t, strings.Repeat("[", 100_000)+"\n"+user("needle"), sessions, "deep", transcriptFile)

	p := openProjects(t, dir)
	found, err := p.Find(t.Context(), projects.Query{})
	require.ElementsMatch(t, []string{"a", "z", "number", "object", "latin1", "digits", "deep"}, names(found))
	require.ElementsMatch(t, []string{"list", "string"}, failed(err))
	found, err = p.Find(t.Context(), projects.Query{Keyword: "needle"})
	require.ElementsMatch(t, []string{"a", "z", "number", "digits", "deep"}, names(found))
	require.ElementsMatch(t, []string{"list", "string", "latin1"}, failed(err))
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)

	got, err := p.Resolve(t.Context(), "a", "")
	require.NoError(t, err, "nor does it keep another from being named")
	require.Equal(t, filepath.Join(sessions, "a"), got)
}

// TestWeakness15NewestByTime compares with the order of the instants that the
// texts mean.
func TestWeakness15NewestByTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var want []string
	for i := range 40 {
		at := start.Add(-time.Duration(i) * 7 * time.Minute)
		zone := time.FixedZone("", (i*5%27-13)*3600)
		layout := []string{time.RFC3339Nano, "20060102T150405-0700", "2006-01-02T15:04:05.000000-07:00"}[i%3]
		name := fmt.Sprintf("s%02d", (i*17)%40)
		createdAt(t, at.In(zone).Format(layout), dir, []string{"p", "q"}[i%2], "sessions", name)
		want = append(want, name)
	}
	require.Equal(t, want, find(t, dir, projects.Query{}))
	require.Equal(t, want[:7], find(t, dir, projects.Query{Limit: 7}))
	require.Equal(t, want[10:20], find(t, dir, projects.Query{
		Before: start.Add(-9*7*time.Minute - time.Second), After: start.Add(-20 * 7 * time.Minute),
	}))
}

// TestWeakness16LimitEndsTheReading finds the newest of many sessions without
// a look at the transcripts of old ones: those are damaged, which would be
// reported.
func TestWeakness16LimitEndsTheReading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const count = 300
	for i := range count {
		session := filepath.Join(dir, "p", "sessions", fmt.Sprintf("s%03d", i))
		createdAt(t, fmt.Sprintf("2026-01-01T00:%02d:%02d", i/60, i%60), session)
		text := "\"\xff\"\n"
		if i >= count/2 {
			text = user("needle")
		}
		write(t, text, session, transcriptFile)
	}
	require.Equal(t, []string{"s299", "s298"}, find(t, dir, projects.Query{Keyword: "needle", Limit: 2}))
	asked := 0
	found, err := openProjects(t, dir).Find(t.Context(), projects.Query{Limit: 3, Match: func(context.Context, *sessionstore.Store, string) (bool, error) {
		asked++
		return true, nil
	}})
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Equal(t, 3, asked)
	_, err = openProjects(t, dir).Find(t.Context(), projects.Query{Keyword: "needle"})
	require.Len(t, failed(err), count/2)
}

// TestFindAmongManyFindsAll looks through more sessions than are looked at
// together, by several goroutines, some of them in long files.
func TestFindAmongManyFindsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := []string{}
	for i := range 200 {
		name := fmt.Sprintf("s%03d", i)
		session := filepath.Join(dir, "p", "sessions", name)
		require.NoError(t, os.MkdirAll(session, 0o700))
		createdAt(t, fmt.Sprintf("2026-01-01T%02d:%02d:00", i/60, i%60), session)
		text := strings.Repeat(user(strings.Repeat("hay ", 40+i%7))+"\n", 1+i%5*800)
		if i%3 == 0 {
			text += user("NEEDLE") + "\n" + user("more")
			want = append([]string{name}, want...)
		}
		write(t, text, session, transcriptFile)
	}
	require.Equal(t, want, find(t, dir, projects.Query{Keyword: "needle"}))
	require.Equal(t, want[:5], find(t, dir, projects.Query{Keyword: "needle", Limit: 5}))
}
