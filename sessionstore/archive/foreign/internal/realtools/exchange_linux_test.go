package realtools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// TestRealTools proves imports and exports with the pinned versions of the tools, and with
// the newest ones.
func TestRealTools(t *testing.T) {
	testenv.Soak(t, "it installs Codex and Claude Code")
	t.Run("pinned", func(t *testing.T) { prove(t, install(t, "pinned", pinned), newClaude, newCodex) })
	t.Run("newest", func(t *testing.T) {
		v := newest(t)
		if !newer(v.String(), pinned.String()) {
			t.Skip("the pinned versions are the newest: " + v.String())
		}
		prove(t, install(t, "newest", v), newClaude, newCodex)
	})
}

func prove(t *testing.T, p programs, tools ...func(*testing.T, *lab) tool) {
	l := newLab(t, p)
	proven := atomic.Int32{}
	t.Run("tools", func(t *testing.T) {
		for _, start := range tools {
			to, wrote, again := start(t, l), start(t, l), start(t, l)
			t.Run("export to "+string(to.name()), func(t *testing.T) {
				t.Parallel()
				p := openProjects(t)
				proven.Add(exchange(t, p, to, sessions(t, p, to.name(), l.work)))
			})
			t.Run("written by "+string(to.name()), func(t *testing.T) {
				t.Parallel()
				p := openProjects(t)
				all := imports(t, p, wrote)
				proven.Add(exchange(t, p, again, all))
				again.stop()
				for i, k := range all {
					all[i].name += " again"
					require.NoError(t, k.st.Append(t.Context(), k.id, text(t, "user", "And there?"), text(t, "assistant", "It goes on.")))
				}
				exchange(t, p, again, all)
			})
		}
	})
	if n := proven.Load(); !t.Failed() && n > 0 {
		fmt.Printf("real tools: proven with %s: %d sessions went on in a tool and came home\n", p.versions, n)
	}
}

func openProjects(t *testing.T) *projects.Projects {
	t.Helper()
	p, err := projects.Open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// exchange exports sessions to a tool, which lists, reads and continues them, and imports
// what the tool wrote. It returns the number of sessions.
func exchange(t *testing.T, p *projects.Projects, to tool, all []kept) int32 {
	t.Helper()
	to.list(t) // it ran here before
	to.stop()
	exports, ids := make([]foreign.Exported, len(all)), make([]string, len(all))
	for i, k := range all {
		exports[i] = export(t, k, to)
		ids[i] = exports[i].ID
	}
	listed, shown := to.list(t), to.read(t, ids)
	for i, k := range all {
		t.Run(k.name, func(t *testing.T) {
			e, before := exports[i], stored(t, k)
			assert.True(t, slices.Contains(listed, e.ID), "the tool does not list it")
			fixed, err := foreign.Target(to.name()).Fix(before) // as an export does
			require.NoError(t, err)
			known := spoken(fixed.Messages)
			if e.Original > 0 {
				known = active(t, to, e)
				assertInOrder(t, known, shown[i], "the tool reads it without")
			} else {
				assert.Equal(t, folded(known), folded(typed(shown[i])), "as the tool reads it")
			}

			prompt := "Going on with " + k.name + "."
			answered := to.goOn(t, e.ID, prompt)
			request, ok := to.asks().asked(prompt)
			require.True(t, ok, "the model was not asked")
			assertInOrder(t, known, request.said, "the request lacks")

			home := comeHome(t, p, to, e)
			assert.Equal(t, foreign.Updated, home[k.id])
			for id, did := range home {
				assert.True(t, id == k.id || did == foreign.Unchanged, "another session was %s", did)
			}
			after := stored(t, k)
			require.Greater(t, len(after), len(before))
			assert.Equal(t, lines(before), lines(after[:len(before)]))
			assert.Equal(t, []said{{"user", prompt}, {"assistant", answered}}, withoutUnsent(spoken(after[len(before):])))
		})
	}
	return int32(len(all))
}

// export writes a session where the tool looks for it.
func export(t *testing.T, k kept, to tool) foreign.Exported {
	t.Helper()
	draft := filepath.Join(t.TempDir(), "draft.jsonl")
	e, err := foreign.ExportFile(t.Context(), k.st, k.id, to.name(), draft, nil)
	require.NoError(t, err, k.name)
	_, err = foreign.ExportFile(t.Context(), k.st, k.id, to.name(), to.place(t, e.File), nil)
	require.NoError(t, err, k.name)
	return e
}

func stored(t *testing.T, k kept) []sessionstore.Message {
	t.Helper()
	s, err := k.st.Load(t.Context(), k.id)
	require.NoError(t, err)
	return s.Messages
}

func lines(rows []sessionstore.Message) (all []string) {
	for _, m := range rows {
		all = append(all, string(m.AppendTo(nil)))
	}
	return all
}

// active returns the prompts and answers of an export that the tool has to send to the
// model: those after its last compaction.
func active(t *testing.T, to tool, e foreign.Exported) []said {
	t.Helper()
	p := openProjects(t)
	report, err := foreign.Import(t.Context(), p, foreign.History{Tool: to.name(), ID: e.ID, Path: to.place(t, e.File)}, &foreign.Options{Project: "-made-up"})
	require.NoError(t, err)
	st, err := p.Store("-made-up")
	require.NoError(t, err)
	rows, err := os.ReadFile(to.place(t, e.File))
	require.NoError(t, err)
	compacted, n := 0, 0
	for row := range strings.Lines(string(rows)) {
		if n++; strings.Contains(row, `"compact_boundary"`) || strings.Contains(row, `"type":"compacted"`) || strings.Contains(row, `"type":"compaction"`) || strings.Contains(row, `"type":"session.compaction_complete"`) {
			compacted = n
		}
	}
	behind := func(m sessionstore.Message) bool {
		var about struct{ Source struct{ Line string } }
		raw, _ := m.Lookup("metadata")
		require.NoError(t, json.Unmarshal(raw, &about))
		first, _, _ := strings.Cut(about.Source.Line, ",")
		line, err := strconv.Atoi(first)
		return err == nil && line > compacted
	}
	all := stored(t, kept{st: st, id: report.Sessions[0].ID})
	return spoken(slices.DeleteFunc(all, func(m sessionstore.Message) bool { return !behind(m) }))
}

// comeHome imports the history of an export, and returns what became of which session.
func comeHome(t *testing.T, p *projects.Projects, to tool, e foreign.Exported) map[string]foreign.Action {
	t.Helper()
	found, err := foreign.Find(t.Context(), to.name(), &foreign.FindOptions{Home: to.home()})
	require.NoError(t, err)
	i := slices.IndexFunc(found, func(h foreign.History) bool { return h.ID == e.ID })
	require.GreaterOrEqual(t, i, 0, "no history %s", e.ID)
	report, err := foreign.Import(t.Context(), p, found[i], nil)
	require.NoError(t, err)
	assert.Empty(t, report.Damaged)
	assert.Empty(t, report.Unknown)
	did := map[string]foreign.Action{}
	for _, s := range report.Sessions {
		did[s.ID] = s.Action
	}
	return did
}

// typed leaves out the texts that no person typed.
func typed(all []said) []said {
	return slices.DeleteFunc(slices.Clone(all), func(s said) bool {
		return strings.HasPrefix(s.text, "<system-reminder>") || strings.TrimSpace(s.text) == ""
	})
}

// folded joins texts of one role that follow each other, without images, which not all
// tools show.
func folded(all []said) (joined []said) {
	for _, s := range all {
		s.text = strings.ReplaceAll(strings.TrimSpace(s.text), "\n\n", "\n") // two texts may have come as one
		if strings.HasPrefix(s.text, "image of ") {
			continue
		}
		if n := len(joined); n > 0 && joined[n-1].role == s.role {
			joined[n-1].text += "\n" + s.text
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// unsent are texts that the tools do not send. The import wrote the first. Claude Code keeps
// reports of the server to itself. Codex sends no image that is none.
var unsent = []string{
	"[The imported history has no answer here.]", "The server is busy.", "API Error: overloaded",
	image("aGk="), image("aGVsbG8="),
}

// withoutUnsent leaves out the texts that the tools do not send.
func withoutUnsent(all []said) []said {
	return slices.DeleteFunc(all, func(s said) bool { return slices.Contains(unsent, s.text) })
}

// assertInOrder reports a text of which a paragraph is not among those of the tool, in
// their order.
func assertInOrder(t *testing.T, want, texts []said, what string) {
	t.Helper()
	at := 0
	for n, w := range want {
		for part := range strings.SplitSeq(w.text, "\n\n") {
			part = strings.TrimSpace(part)
			if slices.Contains(unsent, part) {
				continue
			}
			i := slices.IndexFunc(texts[at:], func(s said) bool { return s.role == w.role && strings.Contains(s.text, part) })
			if i < 0 {
				assert.Fail(t, what, "text %d of %d: %s %.80q", n+1, len(want), w.role, part)
				return
			}
			at += i
		}
	}
}
