package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/counts/count"
)

// typedTexts are prompts that look like what the tools write in the user's name.
var typedTexts = []string{
	"<div>why is this red?</div>",
	"  <Config enabled> what is this?",
	"<system>be brief</system>",
	"<task-notification>x</task-notification>",
	"<local-command-stdout>x</local-command-stdout>",
	"[Request interrupted by user] what does that mean?",
	"This session is being continued from a previous conversation that ran out of context, says the page. Why?",
	"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
	"<environment_context>x</environment_context>",
	"<bash-input>ls</bash-input>",
	"<command-message>init</command-message>",
}

// TestTypedStaysTyped writes prompts that look like what a tool writes as files of
// both tools, and reads them back: they stay prompts.
func TestTypedStaysTyped(t *testing.T) {
	t.Parallel()
	for _, said := range typedTexts {
		p := openProjects(t)
		st, err := p.Store("-w")
		require.NoError(t, err)
		id := sessionstore.NewID()
		md := sessionstore.Metadata{}
		require.NoError(t, md.Set("session_id", id))
		at := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
		ask, err := sessionstore.Text("user", said, at)
		require.NoError(t, err)
		answer, err := sessionstore.Text("assistant", "Fine.", at)
		require.NoError(t, err)
		require.NoError(t, st.Save(t.Context(), id, []sessionstore.Message{ask, answer}, md))
		for _, tool := range []Tool{Claude, Codex} {
			readBack(t, st, id, tool)
			path := filepath.Join(t.TempDir(), "x.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(exported(t, st, id, tool)), 0o600))
			ctx, counted := counting(t)
			report, err := Import(ctx, openProjects(t), History{Tool: tool, ID: "x", Path: path, Dir: "/w"}, &Options{DryRun: true})
			require.NoError(t, err)
			require.Empty(t, report.Unknown)
			if tool == Codex {
				require.Equal(t, 1, (*counted)[0].Prompts.Whole, said)
			} else {
				require.Equal(t, 1, (*counted)[0].Prompts.Whole+(*counted)[0].Slash+(*counted)[0].Shell, said)
			}
		}
	}
}

// saying returns a record of Claude Code that says something.
func saying(kind, uuid, parent, content string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"cwd":"/w","message":{"id":%[2]q,"content":%[4]s}}`+"\n", kind, uuid, parent, content)
}

// TestUnknownCommands has what the tool answers to commands that it does not know, in the
// user's name: these are no prompts, but for those that a person typed.
func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for content, prompts := range map[string]int{
		`"Unknown skill: deplyo"`:                                 1,
		`"Unknown slash command: deplyo"`:                         1,
		`"Unknown command: /deplyo. Did you mean /deploy?"`:       1,
		`[{"type":"text","text":"Unknown skill: plugin:deplyo"}]`: 1,
		`[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":" Unknown skill: x\n"}]`: 1,
		`"Unknown skill: what does that mean?"`:                                     2,
		`"Unknown skill: x\nWhy?"`:                                                  2,
		`[{"type":"text","text":"Unknown skill: x"},{"type":"text","text":"Why?"}]`: 2,
		`"Unknown skill: x"},"origin":{"kind":"human"`:                              2,
	} {
		g := newGrowing(t)
		g.write(saying("user", "1", "", content) + saying("user", "2", "1", `"hello"`) + saying("assistant", "3", "2", `"hi"`))
		ctx, counted := counting(t)
		report, err := Import(ctx, g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
		require.NoError(t, err)
		require.Equal(t, count.Prompts{Whole: prompts, Active: prompts, All: prompts}, (*counted)[0].Prompts, content)
		rows := texts(t, g.st, report.Sessions[0].ID)
		require.Equal(t, "hi", rows[len(rows)-1])
		require.Equal(t, prompts == 1, rows[0] != rows[len(rows)-2], content)
		require.Equal(t, prompts == 1, strings.HasPrefix(rows[0], "<system-reminder>"), content)
		s, err := g.st.Summary(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		require.Equal(t, prompts == 1, s.Title == "hello", content)
	}
}

// TestUnknownCommandTakenBack has the answer to an unknown command, which is taken back: no
// session is made of it.
func TestUnknownCommandTakenBack(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	begin := saying("user", "1", "", `"hello"`) + saying("assistant", "2", "1", `"hi"`) + saying("user", "x", "2", `"Unknown skill: tset"`)
	g.write(begin)
	g.run(nil)
	g.write(begin + saying("user", "3", "2", `"build"`) + saying("assistant", "4", "3", `"built"`))
	require.Equal(t, []Imported{{idOf(Claude, "g"), Conversation, Updated, 4}}, g.run(nil))
}
