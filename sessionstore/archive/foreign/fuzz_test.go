package foreign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// FuzzImport imports foreign bytes. What comes out is healthy, has the whole file,
// and is the same the second time; nothing but an empty history is refused.
func FuzzImport(f *testing.F) {
	paths, err := filepath.Glob("testdata/claude/projects/*/*.jsonl")
	require.NoError(f, err)
	more, err := filepath.Glob("testdata/facts/claude/projects/*/*.jsonl")
	require.NoError(f, err)
	for _, path := range append(paths, more...) {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(data))
		f.Add(strings.ReplaceAll(string(data), `"type":"`, `"type":"x`))
		f.Add(strings.ReplaceAll(string(data), `"parentUuid"`, `"parentuuid"`))
		f.Add(strings.ReplaceAll(string(data), `"toolu_2"`, `"toolu_1"`))
		f.Add(strings.ReplaceAll(string(data), `"type":"user"`, `"type":"assistant"`))
	}
	f.Fuzz(func(t *testing.T, data string) { fuzzImport(t, Claude, data) })
}

// FuzzImportCodex does it with bytes of the other tool.
func FuzzImportCodex(f *testing.F) {
	paths, err := filepath.Glob("testdata/codex/sessions/*/*/*/*.jsonl")
	require.NoError(f, err)
	old, err := filepath.Glob("testdata/codex/archived_sessions/*.jsonl")
	require.NoError(f, err)
	more, err := filepath.Glob("testdata/facts/codex/sessions/*/*/*/*.jsonl")
	require.NoError(f, err)
	for _, path := range slices.Concat(paths, old, more) {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(data))
		for _, r := range [][2]string{
			{`"call_1"`, `"call_2"`},
			{`"type": "function_call"`, `"type": "function_call_output"`},
			{`"role": "user"`, `"role": "assistant"`},
			{`"type": "event_msg"`, `"type": "response_item"`},
			{`"payload"`, `"replacement_history"`},
			{`"replacement_history"`, `"content"`},
			{`"num_turns": 1`, `"num_turns": 9`},
		} {
			f.Add(strings.ReplaceAll(string(data), r[0], r[1]))
		}
	}
	f.Fuzz(func(t *testing.T, data string) { fuzzImport(t, Codex, data) })
}

// FuzzImportPi does it with bytes of pi.
func FuzzImportPi(f *testing.F) {
	paths, err := filepath.Glob("testdata/pi/sessions/*/*.jsonl")
	require.NoError(f, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(data))
		for _, r := range [][2]string{
			{`"parentId":"`, `"parentId":"x`},
			{`"id":"`, `"xid":"`},
			{`"role":"user"`, `"role":"assistant"`},
			{`"toolu_call_0001_1"`, `"toolu_call_0001_0"`},
			{`"type":"message"`, `"type":"compaction"`},
			{`"firstKeptEntryId":"`, `"firstKeptEntryId":"x`},
			{`"version":3`, `"version":4`},
		} {
			f.Add(strings.ReplaceAll(string(data), r[0], r[1]))
		}
	}
	f.Fuzz(func(t *testing.T, data string) { fuzzImport(t, Pi, data) })
}

// FuzzImportCopilot does it with bytes of the GitHub Copilot CLI.
func FuzzImportCopilot(f *testing.F) {
	paths, err := filepath.Glob("testdata/copilot/session-state/*/events.jsonl")
	require.NoError(f, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(data))
		for _, r := range [][2]string{
			{`"type":"user.message"`, `"type":"session.compaction_complete"`},
			{`"type":"assistant.message"`, `"type":"subagent.started"`},
			{`"id":"`, `"xid":"`},
			{`"agentId":"`, `"xagentId":"`},
			{`"parentId":"`, `"agentId":"`},
			{`call_0002_1`, `call_0002_0`},
			{`"success":true`, `"isUserRequested":true`},
			{`"assetId":"`, `"assetId":"x`},
		} {
			f.Add(strings.ReplaceAll(string(data), r[0], r[1]))
		}
	}
	f.Fuzz(func(t *testing.T, data string) { fuzzImport(t, Copilot, data) })
}

// FuzzImportOpenCode does it with lines of sessions of opencode, and makes of them the file that
// opencode imports: JSON, whatever they are.
func FuzzImportOpenCode(f *testing.F) {
	h := newOpenCodeHome(f)
	h.load("testdata/opencode/rows.jsonl")
	for _, one := range h.found() {
		data := original(f, one.Path)
		f.Add(data)
		for _, r := range [][2]string{
			{`"type": "message"`, `"type": "result"`},
			{`"type": "result"`, `"type": "revert"`},
			{`"role":"user"`, `"role":"assistant"`},
			{`"type":"tool"`, `"type":"text"`},
			{`"type":"text"`, `"type":"compaction"`},
			{`"data": {`, `"data": [`},
			{`"completed":`, `"complete":`},
		} {
			f.Add(strings.ReplaceAll(data, r[0], r[1]))
		}
	}
	f.Fuzz(func(t *testing.T, data string) {
		fuzzImport(t, OpenCode, data)
		head := `{"type": "session", "id": "ses_a", "time": 1}` + "\n"
		require.True(t, json.Valid(packOf(t, head+data)), "%s", packOf(t, head+data))
	})
}

func fuzzImport(t *testing.T, tool Tool, data string) {
	t.Helper()
	top := t.TempDir()
	p, err := projects.Open(filepath.Join(top, "p"), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	path := filepath.Join(top, "h.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	h, o := History{Tool: tool, ID: "h", Path: path}, &Options{Project: "-w"}
	report, err := Import(t.Context(), p, h, o)
	if err != nil {
		require.ErrorIs(t, err, ErrEmpty)
		return
	}
	st, err := p.Store("-w")
	require.NoError(t, err)
	for _, s := range report.Sessions {
		require.Len(t, healthy(t, st, s.ID), s.Messages)
	}
	require.Equal(t, data, unpacked(t, st, report.Sessions[0].ID))
	again, err := Import(t.Context(), p, h, o)
	require.NoError(t, err)
	require.Len(t, again.Sessions, len(report.Sessions))
	for i, s := range again.Sessions {
		require.Equal(t, report.Sessions[i].ID, s.ID)
		require.Equal(t, Unchanged, s.Action)
	}
}
