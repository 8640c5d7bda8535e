package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// exported returns the export of a session as it is, which is that of one that is accepted.
func exported(t testing.TB, st *sessionstore.Store, id string, tool Tool) string {
	t.Helper()
	var asItIs, mended bytes.Buffer
	_, err := exportLines(t, st, id, tool, &asItIs, &ExportOptions{AsItIs: true})
	require.NoError(t, err)
	done, err := exportLines(t, st, id, tool, &mended, nil)
	require.NoError(t, err)
	if len(done.Changes) == 0 {
		require.Equal(t, asItIs.String(), mended.String())
	}
	return asItIs.String()
}

// spoken returns what messages say, without where they are from. Calls have numbers
// in the place of ids.
func spoken(t testing.TB, rows []sessionstore.Message) (said []string) {
	t.Helper()
	ids := map[string]int{}
	for _, m := range rows {
		content, _ := m.Lookup("content")
		content, err := pyjson.Append(nil, content, pyjson.Style{})
		require.NoError(t, err)
		row := m.Role() + " " + string(content)
		for _, c := range m.ToolCalls() {
			ids[c.ID] = len(ids)
			row += fmt.Sprint(" calls ", ids[c.ID], c.Name, string(c.Arguments))
		}
		if m.Role() == "tool" {
			row += fmt.Sprint(" of ", ids[m.ToolCallID()])
		}
		said = append(said, row)
	}
	return said
}

// readBack imports what was exported, and compares the messages with ours. Answers
// that follow each other are one there.
func readBack(t testing.TB, st *sessionstore.Store, id string, tool Tool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(exported(t, st, id, tool)), 0o600))
	p := openProjects(t)
	report, err := Import(t.Context(), p, History{Tool: tool, ID: "x", Path: path}, &Options{Project: "-w"})
	require.NoError(t, err)
	other, err := p.Store("-w")
	require.NoError(t, err)
	require.Equal(t, spoken(t, healthy(t, st, id)), spoken(t, healthy(t, other, report.Sessions[0].ID)))
}

// later are turns that were said here.
func later(t testing.TB, st *sessionstore.Store, id string) {
	t.Helper()
	at := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	ask, err := sessionstore.Text("user", "And now?", at)
	require.NoError(t, err)
	call, err := sessionstore.ToolCallMessage("I look.", at, sessionstore.ToolCall{ID: "later_1", Name: "look", Arguments: []byte(`{"at": "it"}`)})
	require.NoError(t, err)
	result, err := sessionstore.ToolResult("later_1", "look", "seen", at)
	require.NoError(t, err)
	answer, err := sessionstore.Text("assistant", "Now it is done.", at)
	require.NoError(t, err)
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	if n := len(s.Messages); n > 0 && s.Messages[n-1].Role() == "user" && !strings.HasPrefix(s.Messages[n-1].Content(), "<system-reminder>") { // it waits for an answer
		require.NoError(t, st.Append(t.Context(), id, answer))
	}
	require.NoError(t, st.Append(t.Context(), id, ask, call, result, answer))
}

// savedByPython saves a session as the Python tools do: all rows anew.
func savedByPython(t testing.TB, st *sessionstore.Store, id string) {
	t.Helper()
	var rows []string
	for _, m := range healthy(t, st, id) {
		row, err := pyjson.AppendMessage(nil, m.AppendTo(nil), pyjson.Style{})
		require.NoError(t, err)
		rows = append(rows, string(row))
	}
	tool := &writertest.OldTool{Dir: filepath.Join(st.Dir(), id)}
	_, err := tool.Save(writertest.Transcript, writertest.Content(rows))
	require.NoError(t, err)
}

// TestExport exports each session of the corpus: as it was imported, after a save by
// Python, and with later turns.
func TestExport(t *testing.T) {
	t.Parallel()
	for _, h := range corpus(t) {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := openProjects(t)
			report, err := Import(t.Context(), p, h, nil)
			if err != nil {
				require.ErrorIs(t, err, ErrEmpty)
				return
			}
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			id, data := report.Sessions[0].ID, original(t, h.Path)
			if h.Tool == Claude && report.Sessions[0].Kind == Agent { // the tool does not resume such lines
				data = exported(t, st, id, h.Tool)
			}
			require.Equal(t, data, exported(t, st, id, h.Tool))
			savedByPython(t, st, id)
			require.Equal(t, data, exported(t, st, id, h.Tool))
			again, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			for _, s := range again.Sessions {
				require.Equal(t, Unchanged, s.Action)
			}
			later(t, st, id)
			savedByPython(t, st, id)
			if lines := strings.SplitAfter(data, "\n"); strings.Contains(lines[len(lines)-2], `"ai-title"`) && data != original(t, h.Path) {
				data = strings.Join(lines[:len(lines)-2], "") // the name comes last
			}
			require.True(t, strings.HasPrefix(exported(t, st, id, h.Tool), data))
			readBack(t, st, id, h.Tool)
			for _, s := range report.Sessions[1:] {
				if s.Kind == Agent {
					require.NotEmpty(t, exported(t, st, s.ID, h.Tool))
				} else {
					readBack(t, st, s.ID, h.Tool)
				}
			}
		})
	}
}

// TestExportChanged exports sessions of which the end was dropped, with and without
// turns behind it, and one whose first message was changed.
func TestExportChanged(t *testing.T) {
	t.Parallel()
	for _, h := range corpus(t) {
		if !strings.HasPrefix(h.ID, "79af214d") && !strings.HasPrefix(h.ID, "019cb8a0-0001") {
			continue
		}
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := openProjects(t)
			report, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			id, data := report.Sessions[0].ID, original(t, h.Path)
			s, err := st.Load(t.Context(), id)
			require.NoError(t, err)
			n := len(s.Messages) - 2
			require.Equal(t, "user", s.Messages[n].Role())
			require.NoError(t, st.Save(t.Context(), id, s.Messages[:n], s.Metadata))
			readBack(t, st, id, h.Tool)
			later(t, st, id)
			require.True(t, strings.HasPrefix(exported(t, st, id, h.Tool), data))
			readBack(t, st, id, h.Tool)

			s, err = st.Load(t.Context(), id)
			require.NoError(t, err)
			first, err := s.Messages[0].With("content", "<system-reminder>\nSomething else.\n</system-reminder>")
			require.NoError(t, err)
			s.Messages[0] = first
			require.NoError(t, st.Save(t.Context(), id, s.Messages, s.Metadata))
			require.True(t, strings.HasPrefix(exported(t, st, id, h.Tool), data))
			readBack(t, st, id, h.Tool)
		})
	}
}

// TestExportElsewhere exports a session that was written here, and each session of one
// tool for the other.
func TestExportElsewhere(t *testing.T) {
	t.Parallel()
	p := openProjects(t)
	st, err := p.Store("-home-ana-site")
	require.NoError(t, err)
	id := sessionstore.NewID()
	md := sessionstore.Metadata{}
	require.NoError(t, md.Set("session_id", id))
	require.NoError(t, md.Set("working_dir", "/home/ana/site"))
	require.NoError(t, st.Save(t.Context(), id, nil, md))
	later(t, st, id)
	for _, tool := range Tools() {
		readBack(t, st, id, tool)
		require.Equal(t, exported(t, st, id, tool), exported(t, st, id, tool))
		path := filepath.Join(t.TempDir(), "x.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(exported(t, st, id, tool)), 0o600))
		h := History{Tool: tool, ID: id, Path: path}
		report, err := Import(t.Context(), openProjects(t), h, &Options{Project: "-w"})
		require.NoError(t, err)
		require.Empty(t, report.Unknown)
	}
	for _, h := range corpus(t) {
		report, err := Import(t.Context(), p, h, nil)
		if err != nil {
			continue
		}
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		to := map[Tool]Tool{Claude: Codex, Codex: Copilot, Copilot: Copilot, Pi: Pi}[h.Tool]
		readBack(t, st, report.Sessions[0].ID, to)
	}
	_, err = Export(t.Context(), st, id, "other", &bytes.Buffer{}, nil)
	require.ErrorIs(t, err, ErrTool)
	_, err = Export(t.Context(), st, sessionstore.NewID(), Claude, &bytes.Buffer{}, nil)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
}

// TestSavedByPython brings a session up to date that Python saved: nobody went on
// here, so it comes to what it comes to without Python.
func TestSavedByPython(t *testing.T) {
	t.Parallel()
	for _, h := range corpus(t) {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p, o := openProjects(t), &Options{Project: "-w"}
			lines := strings.SplitAfter(original(t, h.Path), "\n")
			h.Path, h.Agents = filepath.Join(t.TempDir(), "h.jsonl"), nil
			require.NoError(t, os.WriteFile(h.Path, []byte(strings.Join(lines[:len(lines)*3/4], "")), 0o600))
			report, err := Import(t.Context(), p, h, o)
			if err != nil {
				require.ErrorIs(t, err, ErrEmpty)
				return
			}
			st, err := p.Store("-w")
			require.NoError(t, err)
			for _, s := range report.Sessions {
				savedByPython(t, st, s.ID)
			}
			untouched := openProjects(t)
			_, err = Import(t.Context(), untouched, h, o)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(h.Path, []byte(strings.Join(lines, "")), 0o600))
			want, err := Import(t.Context(), untouched, h, o)
			require.NoError(t, err)
			report, err = Import(t.Context(), p, h, o)
			require.NoError(t, err)
			require.Equal(t, want.Sessions, report.Sessions)
			if id := report.Sessions[0].ID; h.Tool == Claude && report.Sessions[0].Kind == Agent { // the tool does not resume such lines
				require.Equal(t, original(t, h.Path), unpacked(t, st, id))
				return
			}
			require.Equal(t, original(t, h.Path), exported(t, st, report.Sessions[0].ID, h.Tool))
		})
	}
}

// TestExportFile writes what Export writes into a new file and in the place of one, and
// leaves nothing behind where it fails.
func TestExportFile(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2))
	id, dir := g.run(nil)[0].ID, t.TempDir()
	name := filepath.Join(dir, "x.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ExportFile(ctx, g.st, id, Claude, name, nil)
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	done, err := ExportFile(t.Context(), g.st, id, Claude, name, nil)
	require.NoError(t, err)
	require.Equal(t, int64(len(many("g", 2))), done.Original)
	require.Equal(t, many("g", 2), original(t, name))
	require.NoError(t, os.WriteFile(name, []byte("former"), 0o600))
	_, err = ExportFile(ctx, g.st, id, Claude, name, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "former", original(t, name))
	_, err = ExportFile(t.Context(), g.st, id, Claude, name, nil)
	require.NoError(t, err)
	require.Equal(t, many("g", 2), original(t, name))
}

// TestExportNumbered exports threads of a version of Codex that numbers its lines, and
// refuses a file in which lines without a number follow: unchanged they have the tool's own
// bytes, and with a later turn or without their last one no line is numbered.
func TestExportNumbered(t *testing.T) {
	t.Parallel()
	all, err := Find(t.Context(), Codex, &FindOptions{Home: filepath.Join("testdata", "live", "codex")})
	require.NoError(t, err)
	for _, h := range all {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := openProjects(t)
			report, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			id := report.Sessions[0].ID
			if data := exported(t, st, id, Codex); strings.Contains(data, `"ordinal"`) {
				require.Equal(t, original(t, h.Path), data)
			}
			later(t, st, id)
			require.NotContains(t, exported(t, st, id, Codex), `"ordinal"`)
			readBack(t, st, id, Codex)
			s, err := st.Load(t.Context(), id)
			require.NoError(t, err)
			require.NoError(t, st.Save(t.Context(), id, s.Messages[:len(s.Messages)-6], s.Metadata))
			require.NotContains(t, exported(t, st, id, Codex), `"ordinal"`)
			readBack(t, st, id, Codex)
		})
	}
}

// TestExportAgent exports the session of a sub-agent of Claude Code, whose lines the tool
// resumes only within its session: the export is a session of its own, and what the tool
// says behind it comes into the session.
func TestExportAgent(t *testing.T) {
	t.Parallel()
	p := openProjects(t)
	all, err := Find(t.Context(), Claude, &FindOptions{Home: filepath.Join("testdata", "claude")})
	require.NoError(t, err)
	agents := 0
	for _, h := range all {
		report, err := Import(t.Context(), p, h, &Options{Project: "-w"})
		if !errors.Is(err, ErrEmpty) {
			require.NoError(t, err)
		}
		for _, s := range report.Sessions {
			if s.Kind != Agent {
				continue
			}
			agents++
			a := newAway(t, p, s.ID, Claude)
			before, sessions := a.rows(s.ID), len(a.all())
			a.export()
			require.NotContains(t, original(t, a.path), `"isSidechain": true`)
			require.NotContains(t, original(t, a.path), `"isSidechain":true`)
			a.goOn("there")
			require.Equal(t, []Imported{{s.ID, Conversation, Updated, s.Messages + 2}}, a.back())
			require.Len(t, a.all(), sessions)
			require.Equal(t, before, a.rows(s.ID)[:len(before)])
			require.Equal(t, both("there"), a.said(s.ID, s.Messages))
		}
	}
	require.Positive(t, agents)
}

// TestExportNamesNoPath exports a session whose metadata, which may be of somebody else, have
// a path in the place of the tool's id: the name of the file is none.
func TestExportNamesNoPath(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		md, err := a.st.Metadata(t.Context(), a.id)
		require.NoError(t, err)
		require.NoError(t, md.Set("import_"+string(a.tool), map[string]string{"tool": string(a.tool), "id": "../out"}))
		rows, err := a.st.Load(t.Context(), a.id)
		require.NoError(t, err)
		require.NoError(t, a.st.Save(t.Context(), a.id, rows.Messages, md))
		done, err := Export(t.Context(), a.st, a.id, a.tool, io.Discard, nil)
		require.NoError(t, err)
		name := strings.TrimPrefix(done.File, done.ID+"/") // of a tool that keeps a folder for each session
		require.Equal(t, filepath.Base(name), name)
		require.NotContains(t, done.File, "..")
	})
}

// TestExportNamesTheProvider: an export to Codex names the provider of the tool's settings here.
func TestExportNamesTheProvider(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CODEX_HOME", home)
	st, err := openProjects(t).Store("-shop")
	require.NoError(t, err)
	ask, err := sessionstore.Text("user", "Hello?", time.Unix(1, 0))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", ask))
	require.Contains(t, exported(t, st, "s", Codex), `"model_provider":"openai"`)
	for settings, want := range map[string]string{
		"model = \"x\"\nmodel_provider = \"mine\"\n\n[profiles.a]\nmodel_provider = \"other\"\n": "mine",
		"[profiles.a]\nmodel_provider = \"other\"\n":                                             "openai",
		"\ufeff# mine\r\n'model_provider' = 'mine' # \"other\"\r\n[a]\r\n":                       "mine",
		"  [model_providers.a]\n  name = \"x\"\n  model_provider = \"other\"\n":                  "openai",
		"markers = [\n  \".git\",\n]\n  model_provider = \"mine\"\n[[a]] # b\n":                  "mine",
		"# model_provider = \"a\"\na.model_provider = \"b\"\nmodel_providers = \"c\"\n":          "openai",
		"\x00\xff" + strings.Repeat("x", 2<<20) + "\nmodel_provider = \"other\"\n":               "openai",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(settings), 0o600))
		require.Contains(t, exported(t, st, "s", Codex), `"model_provider":"`+want+`"`)
	}
}
