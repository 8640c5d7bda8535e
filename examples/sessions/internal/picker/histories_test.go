package picker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// corpus is where made-up histories of both tools are.
var corpus = map[foreign.Tool]string{
	foreign.Claude:  "../../../../sessionstore/archive/foreign/testdata/claude",
	foreign.Codex:   "../../../../sessionstore/archive/foreign/testdata/codex",
	foreign.Copilot: "../../../../sessionstore/archive/foreign/testdata/copilot",
	foreign.Pi:      "../../../../sessionstore/archive/foreign/testdata/pi",
}

// imports imports with the package alone.
func imports(s store) func(context.Context, []foreign.History, func(foreign.History, error) bool) (string, error) {
	return func(ctx context.Context, all []foreign.History, done func(foreign.History, error) bool) (string, error) {
		for _, h := range all {
			if _, err := foreign.Import(ctx, s.projects, h, nil); !done(h, err) {
				return "stopped", nil
			}
		}
		return "all", nil
	}
}

// TestSeek has the corpus offered, less of it the more is here, and then nothing.
func TestSeek(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t)
	h := &histories{homes: corpus}
	offer := h.seek(t.Context(), s).(Offered).Offer
	for tool := range corpus {
		require.NotZero(t, offer[tool], tool)
	}
	total := offer.total()
	require.Len(t, h.found, total)

	stop, end := context.WithCancel(t.Context())
	var told []tea.Msg
	h.bring(t.Context(), stop, imports(s), func(e tea.Msg) {
		told = append(told, e)
		if e == (Progressed{2, total}) {
			end()
		}
	})
	require.Equal(t, []tea.Msg{Progressed{0, total}, Progressed{1, total}, Progressed{2, total}, Imported{Report: "stopped"}}, told)
	offer = h.seek(t.Context(), s).(Offered).Offer
	require.Equal(t, total-2, offer.total())

	told = nil
	h.bring(t.Context(), t.Context(), imports(s), func(e tea.Msg) { told = append(told, e) })
	require.Equal(t, Imported{Report: "all"}, told[len(told)-1])
	require.Equal(t, Offered{}, h.seek(t.Context(), s), "also of those without a conversation")
	require.Empty(t, h.found)
}

// TestSeekTrash offers no session again that a person removed.
func TestSeekTrash(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t)
	h := &histories{homes: corpus}
	h.seek(t.Context(), s)
	one := h.found[0]
	_, err := foreign.Import(t.Context(), s.projects, one, nil)
	require.NoError(t, err)
	st, err := s.projects.Store(one.Project())
	require.NoError(t, err)
	done, err := trash.Delete(t.Context(), st, []string{one.SessionID()}, &trash.Options{Reason: "delete", Allow: []trash.Kind{trash.Recent, trash.Parent}})
	require.NoError(t, err)
	require.Len(t, done.Receipt.Sessions, 1)
	h.seek(t.Context(), s)
	for _, other := range h.found {
		require.NotEqual(t, one.ID, other.ID)
	}
}

// TestSeekProject offers what belongs to the project that is shown.
func TestSeekProject(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t)
	h := &histories{homes: corpus}
	h.seek(t.Context(), s)
	all, project := len(h.found), h.found[0].Project()
	s.project = project
	h.seek(t.Context(), s)
	require.NotEmpty(t, h.found)
	require.Less(t, len(h.found), all)
	for _, one := range h.found {
		require.Equal(t, project, one.Project())
	}
}

// TestSeekNothing has no directory of a tool, files that name no directory, and an end.
func TestSeekNothing(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t)
	home := t.TempDir()
	h := &histories{homes: map[foreign.Tool]string{foreign.Claude: filepath.Join(home, "claude"), foreign.Codex: filepath.Join(home, "codex"), foreign.Copilot: filepath.Join(home, "copilot"), foreign.Pi: filepath.Join(home, "pi")}}
	require.Equal(t, Offered{}, h.seek(t.Context(), s))
	folder := filepath.Join(home, "claude", "projects", "-w")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "s.jsonl"), []byte(`{"type":"summary","summary":"a"}`+"\n"), 0o600))
	require.Equal(t, Offered{}, h.seek(t.Context(), s))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.homes = corpus
	require.Equal(t, Offered{}, h.seek(ctx, s))
}

// TestBringFails tells what failed, also in the search before, and offers that again.
func TestBringFails(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t)
	full := errors.New("disk full")
	h := &histories{homes: corpus}
	before := h.seek(t.Context(), s)
	h.failed = errors.New("no right to read")
	var last tea.Msg
	h.bring(t.Context(), t.Context(), func(_ context.Context, all []foreign.History, done func(foreign.History, error) bool) (string, error) {
		done(all[0], full)
		return "some\x1b", full
	}, func(e tea.Msg) { last = e })
	require.Equal(t, "some\ufffd", last.(Imported).Report)
	require.ErrorIs(t, last.(Imported).Err, full)
	require.ErrorContains(t, last.(Imported).Err, "no right to read")
	require.Equal(t, before, h.seek(t.Context(), s))
}

// TestSeekFails says in the footer that a tool cannot be read, but not in the place of the report
// of an import.
func TestSeekFails(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "opencode.db"), []byte("no database"), 0o600))
	h := &histories{homes: map[foreign.Tool]string{foreign.OpenCode: home}}
	m := newModel(t)
	m.Update(h.seek(t.Context(), s))
	require.Contains(t, screenText(m, 200, 24), "Not all of other tools can be read: find histories: read "+filepath.Join(home, "opencode.db")+": it is no SQLite database")
	m.Update(Imported{Report: "All is here."})
	m.Update(h.seek(t.Context(), s))
	require.Contains(t, screenText(m, 200, 24), "All is here.")
}
