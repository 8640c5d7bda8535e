package workflow

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var longText = strings.Repeat("x", 10_000)

// phaseLines are lines that readers of JSON may read in different ways.
var phaseLines = []string{
	`{"phase_id": "p", "system_prompt": "` + longText + `", "output": "o", "user_input": "` + longText + `"}`,
	`{"system_prompt": "` + longText + `", "phase_id": "p", "system_prompt": "` + longText + `y"}`,
	"  {\"system\\u005fprompt\": \"" + longText + "\", \"output\": null}\t",
	"\u00a0\v{\"phase_id\": \"p\"}\u2003",
	"\ufeff{\"phase_id\": \"p\"}",
	`{"system_prompt": null, "output": "` + longText + `"}`,
	`{"system_prompt": ["` + longText + `"]}`,
	`{"system_prompt": 1` + strings.Repeat("0", 5000) + `}`,
	`{"future": 1` + strings.Repeat("0", 5000) + `, "phase_id": "p"}`,
	`{"system_prompt": "` + longText + `", "output": 5}`,
	`{"system_prompt": "` + longText + `", "output": NaN}`,
	`{"system_prompt": "` + longText + "\xff" + `", "output": "o"}`,
	`{"system_prompt": "` + longText + "\xed\xa0\x80" + `", "output": "` + "\xed\x9f\xbf" + `"}`,
	`{"system_prompt": "` + longText + `\ud800", "output": "o"}`,
	`{"output": "\ud800\ud83d\ude00\udc00\ud800x\u0000\/\b\f\n\r\t\"\\é한글"}`,
	`{"output": "\ud800\u"}`, `{"output": "\x"}`, `{"output": "\U0041"}`,
	`{"system_prompt": "` + longText + "\n" + `"}`,
	`{"system_prompt": "` + longText + `"`,
	`{"system_prompt": "` + longText + `"} x`,
	`["system_prompt", "` + longText + `"]`,
	``, `null`, `"x"`, `{}`, `{"": 1}`, `{,}`, `{"a": 1,}`,
	`{"id": 7, "id": null, "phase_id": "p", "phase_id": null, "output": "o", "output": null, "error": null, "error": "e"}`,
	`{"id": 7, "ID": 8, "Phase_ID": "p", "PHASE_ID": "q"}`,
	`{"u` + "\u017f" + `er_input": "long s", "` + "\u017f" + `tatus": "running", "` + "\u212a" + `": 1}`,
	`{"phase\ud800_id": "p", "phase_id\u0000": "q", "ph` + "\xff" + `ase_id": "r"}`,
	`{"session_id": "another", "phase_id": "p"}`, `{"session_id": 5}`, `{"session_id": null}`,
	`{"id": "7"}`, `{"id": 7.0}`, `{"id": 7e0}`, `{"id": -0}`, `{"id": -7}`, `{"id": 07}`, `{"id": true}`, `{"id": [7]}`, `{"id": 9223372036854775808}`, `{"id": 9223372036854775807}`,
	`{"phase_id": {"a": 1}}`, `{"phase_id": false}`, `{"status": 5, "status": "running"}`, `{"created_at": []}`,
	`{"future": NaN}`, `{"future": [1, {"a": -Infinity}]}`, `{"future": [1, {"a": "\ud800", "b": 1e999}]}`, `{"future": tru}`,
	`{"future": ` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `, "phase_id": "p"}`,
	`{"future": ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `, "phase_id": "p"}`,
}

// requireRow requires that a line is read as encoding/json reads it.
func requireRow(t *testing.T, line []byte) {
	t.Helper()
	want, isRecord := unmarshalPhase(line)
	r, ok := parsePhase(line)
	require.Equal(t, isRecord, ok, "%.60q", line)
	if !ok {
		return
	}
	got := PhaseRecord{
		ID: r.id, SessionID: r.text(rowSession), PhaseID: r.text(rowPhase), PhaseName: r.text(rowName), Status: r.text(rowStatus),
		CreatedAt: r.text(rowCreated), UpdatedAt: r.text(rowUpdated),
	}
	got.SystemPrompt, _ = r.optional(rowPrompt, math.MaxInt)
	got.UserInput, _ = r.optional(rowInput, math.MaxInt)
	got.Output, _ = r.optional(rowOutput, math.MaxInt)
	got.Error, _ = r.optional(rowError, math.MaxInt)
	require.Equal(t, want, got, "%.60q", line)
	require.Equal(t, isText(want.SystemPrompt), r.holds(rowPrompt))
}

// TestPhaseRows reads lines as encoding/json reads them: which are records, and what is in
// them.
func TestPhaseRows(t *testing.T) {
	t.Parallel()
	for _, line := range phaseLines {
		requireRow(t, []byte(line))
	}
}

func FuzzPhaseRow(f *testing.F) {
	for _, line := range phaseLines {
		if len(line) < 1000 {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) { requireRow(t, line) })
}
