package foreign

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// typedTexts are prompts that look like what the tools write in the user's name.
var typedTexts = []string{
	"<div>why is this red?</div>",
	"  <Config enabled> what is this?",
	"<system>be brief</system>",
	"<task-notification>x</task-notification>",
	"<local-command-stdout>x</local-command-stdout>",
	"[Request interrupted by user] what does that mean?",
	claudeSummary + ", says the page. Why?",
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
		p := projects(t)
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
			report, err := Import(t.Context(), projects(t), History{Tool: tool, ID: "x", Path: path, Dir: "/w"}, &Options{DryRun: true})
			require.NoError(t, err)
			require.Empty(t, report.Unknown)
			if tool == Codex {
				require.Equal(t, 1, report.Counts[0].Prompts.Whole, said)
			} else {
				require.Equal(t, 1, report.Counts[0].Prompts.Whole+report.Counts[0].Slash+report.Counts[0].Shell, said)
			}
		}
	}
}
