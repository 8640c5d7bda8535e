package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// TestRefusedMarkIsNoFalseAlarm: a list marks as refused only sessions in which a rescue finds a
// fault, for each provider; where a provider does not look at a picture, its damage is no reason.
func TestRefusedMarkIsNoFalseAlarm(t *testing.T) {
	t.Parallel()
	bad := `[{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "bm8gcGljdHVyZQ=="}}]`
	const ask, call, answer = `{"role": "user", "content": "q"}`, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}`, `{"role": "assistant", "content": "a"}`
	nested := `[{"type": "tool_result", "tool_use_id": "n", "content": ` + bad + `}]`
	for _, tt := range []struct {
		name   string
		rows   []string
		marked []string // the models for which it is
	}{
		{"in a prompt", []string{`{"role": "user", "content": ` + bad + `}`, answer}, []string{"claude-x", "gpt-x", ""}},
		{"in a result", []string{ask, call, `{"role": "tool", "tool_call_id": "c1", "content": ` + bad + `}`, answer}, []string{"claude-x", "gpt-x", ""}},
		{"in a result in a result", []string{ask, call, `{"role": "tool", "tool_call_id": "c1", "content": ` + nested + `}`, answer}, nil},
		{"in an answer", []string{ask, `{"role": "assistant", "content": ` + strings.Replace(bad, "[", `[{"type": "text", "text": "a"}, `, 1) + `}`}, nil},
		{"in instructions", []string{`{"role": "system", "content": ` + bad + `}`, ask, answer}, nil},
		{"a result of no call", []string{ask, call, `{"role": "tool", "tool_call_id": "c1", "content": "r"}`, `{"role": "tool", "tool_call_id": "c2", "content": "r"}`, answer}, []string{"claude-x", "gpt-x", "gemini-x", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var marked []string
			for _, model := range []string{"claude-x", "gpt-x", "gemini-x", ""} {
				dir := t.TempDir()
				st, err := sessionstore.Open(dir, nil)
				require.NoError(t, err)
				require.NoError(t, os.Mkdir(filepath.Join(dir, "s-1"), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "s-1", "transcript.jsonl"), []byte(strings.Join(tt.rows, "\n")+"\n"), 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "s-1", "metadata.json"), []byte(`{"session_id": "s-1", "model": "`+model+`"}`), 0o600))
				s, err := st.Summary(t.Context(), "s-1")
				require.NoError(t, err)
				found, err := slice.RescueSession(t.Context(), st, "s-1", &slice.RescueOptions{For: takersOf(model), DryRun: true})
				require.NoError(t, err)
				if wouldBeRefused(s) {
					marked = append(marked, model)
					require.NotEmpty(t, found.Faults, "a false alarm for %q", model)
				}
				require.NoError(t, st.Close())
			}
			require.Equal(t, tt.marked, marked)
		})
	}
}
