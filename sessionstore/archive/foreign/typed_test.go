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
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/land"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
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
			report, err := Import(t.Context(), openProjects(t), History{Tool: tool, ID: "x", Path: path, Dir: "/w"}, &Options{DryRun: true})
			require.NoError(t, err)
			require.Empty(t, report.Unknown)
			if tool == Codex {
				require.Equal(t, 1, countsIn(t, report)[0].Prompts.Whole, said)
			} else {
				require.Equal(t, 1, countsIn(t, report)[0].Prompts.Whole+countsIn(t, report)[0].Slash+countsIn(t, report)[0].Shell, said)
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
		report, err := Import(t.Context(), g.p, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"}, nil)
		require.NoError(t, err)
		require.Equal(t, thread.CountedPrompts{Whole: prompts, Active: prompts, All: prompts}, countsIn(t, report)[0].Prompts, content)
		rows := texts(t, g.st, report.Sessions[0].ID)
		require.Equal(t, "hi", rows[len(rows)-1])
		require.Equal(t, prompts == 1, rows[0] != rows[len(rows)-2], content)
		require.Equal(t, prompts == 1, strings.HasPrefix(rows[0], "<system-reminder>"), content)
		s, err := g.st.Summary(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		require.Equal(t, prompts == 1, s.Title == "hello", content)
	}
}

// TestUnknownCommandsOfOlderRules has a session that rules made by which the answer to an
// unknown command was a prompt: the import makes it anew, and neither it nor a fork of
// which that was the first prompt becomes another one. Where the session went on here,
// nothing changes until the tool's conversation goes on.
func TestUnknownCommandsOfOlderRules(t *testing.T) {
	t.Parallel()
	older := func(t *testing.T) (g *growing, id string) {
		g = newGrowing(t)
		g.write(saying("user", "1", "", `"Unknown skill: deplyo"`) + saying("user", "2", "1", `"hello"`) + saying("assistant", "3", "2", `"hi"`) +
			saying("user", "x", "3", `"Unknown skill: tset"`) + saying("user", "4", "x", `"test"`) + saying("assistant", "5", "4", `"tested"`) +
			saying("user", "6", "3", `"build"`) + saying("assistant", "7", "6", `"built"`))
		made := g.run(nil)
		require.Equal(t, []Kind{Conversation, Branch}, []Kind{made[0].Kind, made[1].Kind})
		require.Equal(t, idOf(Claude, "g/branch/x"), made[1].ID)
		for _, one := range made {
			s, err := g.st.Load(t.Context(), one.ID)
			require.NoError(t, err)
			rows := []sessionstore.Message(nil)
			for i, m := range s.Messages {
				if strings.HasPrefix(m.Content(), "<system-reminder>") {
					m, err = s.Messages[i+1].With("content", strings.Split(m.Content(), "\n")[1]+"\n\n"+s.Messages[i+1].Content())
					require.NoError(t, err)
				} else if i > 0 && strings.HasPrefix(s.Messages[i-1].Content(), "<system-reminder>") {
					continue
				}
				rows = append(rows, m)
			}
			require.NoError(t, g.st.Save(t.Context(), one.ID, rows, s.Metadata))
			has, err := g.st.Revision(t.Context(), one.ID)
			require.NoError(t, err)
			was := land.StateOf(s.Metadata)
			was.Rules, was.Transcript = 1, land.RevisionText(has)
			require.NoError(t, s.Metadata.Set(land.Folder, was))
			require.NoError(t, g.st.Save(t.Context(), one.ID, rows, s.Metadata))
		}
		return g, made[0].ID
	}
	t.Run("anew", func(t *testing.T) {
		t.Parallel()
		g, id := older(t)
		made := g.run(nil)
		require.Equal(t, []Imported{{id, Conversation, Updated, 5}, {idOf(Claude, "g/branch/x"), Branch, Updated, 6}}, made)
		require.Equal(t, 2, g.sessions())
		require.Equal(t, []string{"<system-reminder>\nUnknown skill: deplyo\n</system-reminder>", "hello", "hi", "build", "built"}, texts(t, g.st, id))
		before := tree(t, g.p.Dir())
		g.run(nil)
		require.Equal(t, before, tree(t, g.p.Dir()))
	})
	t.Run("it went on here", func(t *testing.T) {
		t.Parallel()
		g, id := older(t)
		g.say(id, "ours", "answer")
		g.say(idOf(Claude, "g/branch/x"), "ours", "answer")
		require.Equal(t, Unchanged, g.run(nil)[0].Action)
		g.write(original(t, g.path) + `{"type":"mode","mode":"normal"}` + "\n")
		require.Equal(t, Imported{id, Conversation, Unchanged, 5}, g.run(nil)[0])
		require.Equal(t, 2, g.sessions())
		g.write(original(t, g.path) + saying("user", "8", "7", `"more"`) + saying("assistant", "9", "8", `"done"`))
		require.Equal(t, []Kind{Diverged, Branch}, []Kind{g.run(nil)[0].Kind, g.run(nil)[1].Kind})
		require.Equal(t, 3, g.sessions())
	})
	t.Run("it is taken back", func(t *testing.T) {
		t.Parallel()
		g := newGrowing(t)
		begin := saying("user", "1", "", `"hello"`) + saying("assistant", "2", "1", `"hi"`) + saying("user", "x", "2", `"Unknown skill: tset"`)
		g.write(begin)
		g.run(nil)
		g.write(begin + saying("user", "3", "2", `"build"`) + saying("assistant", "4", "3", `"built"`))
		require.Equal(t, []Imported{{idOf(Claude, "g"), Conversation, Updated, 4}}, g.run(nil))
	})
}
