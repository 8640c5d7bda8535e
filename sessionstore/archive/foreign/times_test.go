package foreign

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

// TestImportedByLastLine imports old histories beside a session of today: lists show them
// by their last lines, and their directories have the time of the import. What goes on
// here comes first.
func TestImportedByLastLine(t *testing.T) {
	t.Parallel()
	ctx, home, p := t.Context(), t.TempDir(), openProjects(t)
	begin := time.Now()
	st, err := p.Store("-w")
	require.NoError(t, err)
	say := func(id string) {
		m, err := sessionstore.Text("user", "today", time.Now())
		require.NoError(t, err)
		require.NoError(t, st.Append(ctx, id, m))
	}
	put := func(id string, n int, day string) {
		name := filepath.Join(home, "projects", "-w", id+".jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		text := strings.ReplaceAll(many(id, n), "2026-03-04T10:00", day+"T10:00")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	run := func() {
		all, err := Find(ctx, Claude, &FindOptions{Home: home})
		require.NoError(t, err)
		for _, h := range all {
			_, err := Import(ctx, p, h, nil)
			require.NoError(t, err)
		}
	}
	older, newer := idOf(Claude, "older"), idOf(Claude, "newer")
	say("today")
	earlier := begin.Add(-time.Minute) // what comes next is later, by every file's time
	for _, name := range []string{"transcript.jsonl", "metadata.json", "."} {
		require.NoError(t, os.Chtimes(filepath.Join(st.Dir(), "today", name), earlier, earlier))
	}
	put("older", 1, "2025-11-02")
	put("newer", 1, "2025-12-24")
	run()
	require.Equal(t, []string{"today", newer + " 2025-12-24", older + " 2025-11-02"}, inOrder(ctx, t, p, st, 0))
	require.Equal(t, []string{"today"}, inOrder(ctx, t, p, st, 1))
	for _, name := range []string{"transcript.jsonl", "metadata.json", "import/map.jsonl", "import/original.jsonl.zst"} {
		fi, err := os.Stat(filepath.Join(st.Dir(), older, name))
		require.NoError(t, err)
		require.Equal(t, "2025-11-02T10:00:00Z", fi.ModTime().UTC().Format(time.RFC3339), name)
	}
	dir, err := os.Stat(filepath.Join(st.Dir(), older))
	require.NoError(t, err)
	require.WithinRange(t, dir.ModTime(), begin.Add(-time.Second), time.Now().Add(time.Second))

	put("older", 1, "2025-11-02")
	name := filepath.Join(home, "projects", "-w", "older.jsonl")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	grown := strings.ReplaceAll(many("older", 2), "2026-03-04T10:00", "2026-01-01T10:00")
	lines := strings.SplitAfter(grown, "\n")
	require.NoError(t, os.WriteFile(name, append(text, strings.Join(lines[2:], "")...), 0o600))
	run()
	require.Equal(t, []string{"today", older + " 2026-01-01", newer + " 2025-12-24"}, inOrder(ctx, t, p, st, 0))

	say(newer)
	require.Equal(t, []string{newer, "today", older + " 2026-01-01"}, inOrder(ctx, t, p, st, 0))
	require.Equal(t, []string{newer, "today"}, inOrder(ctx, t, p, st, 2))
}

// inOrder returns the sessions as lists of the store and of all projects show them, with
// the day of those that did not change today.
func inOrder(ctx context.Context, t *testing.T, p *projects.Projects, st *sessionstore.Store, limit int) (all []string) {
	t.Helper()
	o := &sessionstore.ListOptions{Limit: limit}
	told := func(s sessionstore.Summary, err error) string {
		require.NoError(t, err)
		if time.Since(s.Changed) < 24*time.Hour {
			return s.ID
		}
		return fmt.Sprint(s.ID, " ", s.Changed.UTC().Format(time.DateOnly))
	}
	for s, err := range st.Summaries(ctx, o) {
		all = append(all, told(s, err))
	}
	var over []string
	for s, err := range p.Summaries(ctx, o) {
		over = append(over, told(s.Summary, err))
	}
	require.Equal(t, all, over)
	return all
}
