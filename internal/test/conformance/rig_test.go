package conformance

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRig runs cases of kinds that other vectors have and the shipped ones have not. Each
// is a shipped one with members replaced.
func TestRig(t *testing.T) {
	t.Setenv("AMPLIFIER_HOME", t.TempDir())
	t.Setenv("AMPLIFIER_SESSION_STATE_HOME", t.TempDir())
	type members = map[string]any
	text := func(s string) any { return members{"text": s} }
	for _, tt := range []struct {
		name, vectors, base string
		change              func(c members)
		rules               []rule
		err                 string
	}{
		{name: "no arguments", vectors: "golden/cli.json", base: "unknown", change: func(c members) { c["argv"] = []any{} }},
		{name: "the library's own folder beside a session", vectors: "golden/cli.json", base: "find", change: func(c members) {
			c["tree"].(members)["p"].(members)[".sessionstore"] = members{"index/s1": text("x")}
			c["files_after"].(members)["p/sessions/.sessionstore/index/s1"] = text("x")
		}},
		{name: "the same when it is written to", vectors: "golden/cli.json", base: "repair_unfixable_no_id", change: func(c members) {
			c["tree"].(members)["p"].(members)[".sessionstore"] = members{"index/s1": text("x")}
			c["files_after"].(members)["p/sessions/.sessionstore/index/s1"] = text("x")
		}, rules: []rule{oddCalls}},
		{name: "the same in a search", vectors: "golden/find_sessions.json", base: "after_date", change: func(c members) {
			c["tree"].(members)["-home-a"].(members)[".sessionstore"] = members{"index/s1": text("x")}
		}, rules: []rule{findReports}},
		{name: "a token", vectors: "golden-new/restore_cost.json", base: "ordinary_empty_file", change: func(c members) {
			c["expand"] = members{"token": "<PAD>", "unit": "x\"", "times": 5000}
			c["events"] = text(`{"event": "llm:response", "session_id": "root", "data": {"text": "<PAD>"}}` + "\n")
		}},
		{name: "a date that Python refuses", vectors: "golden/find_sessions.json", base: "after_date", change: func(c members) {
			c["args"] = members{"after": "2026-13-01", "before": nil, "keyword": nil, "status": "all", "limit": 50, "project": nil}
			delete(c, "results_json")
			c["error"] = members{"type": "ValueError", "message": "Invalid isoformat string: '2026-13-01'"}
		}},
		{name: "the same in a call", vectors: "golden/cli.json", base: "find", change: func(c members) {
			c["argv"] = []any{"find", "--after", "2026-13-01", "--sessions-root", "{DIR}"}
			c["exit_code"], c["stdout"], c["stderr"] = 1, `{"error": "Invalid isoformat string: '2026-13-01'"}`, "Invalid isoformat string: '2026-13-01'\n"
		}},
		{name: "a fork of a recovered parent", vectors: "golden/fork.json", base: "no_events_file", change: func(c members) {
			parent := c["parent_files"].(members)
			parent[transcriptBackup] = parent[transcriptFile]
			parent[transcriptFile] = text("{broken\n")
			delete(c, "result")
			delete(c, "preview_json")
			c["error"] = members{"type": "ValueError", "message": "Cannot fork: session has no user messages"}
			c["preview_error"] = members{"type": "ValueError", "message": "Turn 1 out of range (1-0)"}
			c["child_files"] = nil
		}, rules: []rule{forkRecovers, forkWorkingDir}},
		{name: "a newest fork of a recovered parent", vectors: "golden-new/fork_newest.json", base: "turn_1", change: func(c members) {
			parent := c["parent_files"].(members)
			parent[transcriptBackup] = parent[transcriptFile]
			parent[transcriptFile] = text("{broken\n")
		}, rules: []rule{forkWorkingDir}},
		{name: "a member that is not known", vectors: "golden/cli.json", base: "find", change: func(c members) { c["umask"] = 77 }, err: `did not run it: json: unknown field "umask"`},
	} {
		if filepath.Base(tt.vectors) == commandCalls && !withTool() && tt.err == "" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(root, "testdata", tt.vectors))
			require.NoError(t, err)
			var cases []members
			require.NoError(t, json.Unmarshal(data, &cases))
			i := slices.IndexFunc(cases, func(c members) bool { return c["name"] == tt.base })
			require.GreaterOrEqual(t, i, 0, "no case %s", tt.base)
			c := maps.Clone(cases[i])
			tt.change(c)
			raw, err := json.Marshal(c)
			require.NoError(t, err)
			v := runners()[filepath.Base(tt.vectors)](t, raw)
			if tt.err != "" {
				require.ErrorContains(t, v.err, tt.err)
				return
			}
			require.NoError(t, v.err)
			require.Equal(t, tt.rules, v.rules)
		})
	}
}
