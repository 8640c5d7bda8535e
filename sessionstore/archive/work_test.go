package archive

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var update = flag.Bool("update", false, "write what the tests got to testdata")

// worked are the files of a session with a workflow.
var worked = map[string]string{
	"metadata.json":    `{"name": "Birds"}`,
	"transcript.jsonl": `{"role": "user", "content": "Go on."}` + "\n",
	"phase_outputs.jsonl": `{"id": 1, "session_id": "s", "phase_id": "plan", "phase_name": "Plan <b>the</b> work", "status": "running", "system_prompt": "Be brief, hunter2.", "user_input": "Plan it.\nAll of it.", "output": null, "error": null, "created_at": "2026-11-23T14:47:11.589Z", "updated_at": "2026-11-23T14:47:11.589Z"}
{"id": 1, "session_id": "s", "phase_id": "plan", "phase_name": "Plan <b>the</b> work", "status": "completed", "system_prompt": null, "user_input": null, "output": "1. Read </article><script>alert(1)</script>\n2. Write\n\n` + "```" + `go\nx := 1", "error": null, "created_at": "2026-11-23T14:47:11.589Z", "updated_at": "2026-11-23T14:49:11.589Z"}
{"id": 2, "session_id": "s", "phase_id": "write", "phase_name": "", "status": "failed", "system_prompt": null, "user_input": null, "output": null, "error": "no network <i>", "created_at": "2026-11-23T14:48:11.589Z", "updated_at": "2026-11-23T14:48:11.589Z"}
`,
	"session_conversation.jsonl": `{"id": 1, "session_id": "s", "phase_id": "plan", "role": "user", "content": "Looks good, <b>hunter2</b>.", "created_at": "2026-11-23T14:50:11.597Z"}
{"id": 2, "session_id": "s", "phase_id": null, "role": "assistant", "content": "Thanks \u202e.", "created_at": "2026-11-23T14:50:12.598Z"}
`,
}

func written(t *testing.T, st *sessionstore.Store, o WriteOptions) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Write(t.Context(), &out, st, []string{"s"}, &o)
	return out.String(), err
}

// TestWorkflow compares the two documents with those in testdata.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	st := store(t)
	write(t, st, "s", time.Now(), worked)
	for _, f := range []Format{Markdown, HTML} {
		text, err := written(t, st, WriteOptions{Format: f})
		require.NoError(t, err)
		if f == HTML { // the style is not of interest
			_, text, _ = strings.Cut(text, "<body>\n")
		}
		golden := filepath.Join("testdata", "workflow."+string(f))
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(text), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), text)

		text, err = written(t, st, WriteOptions{Format: f, NoWorkflow: true})
		require.NoError(t, err)
		for _, gone := range []string{"Phases", "About the workflow", "Looks good", "no network"} {
			require.NotContains(t, text, gone)
		}
		text, err = written(t, st, WriteOptions{Format: f, Redact: secrets{}})
		require.NoError(t, err)
		require.NotContains(t, text, "hunter2")
		require.Equal(t, 2, strings.Count(text, "[redacted]"))
		_, err = written(t, st, WriteOptions{Format: f, Redact: breakingWork{}})
		require.ErrorIs(t, err, ErrRedacted)
	}
	lines, err := written(t, st, WriteOptions{Format: JSONL})
	require.NoError(t, err)
	require.Equal(t, worked["transcript.jsonl"], lines)
	packed, err := written(t, st, WriteOptions{})
	require.NoError(t, err)
	require.Contains(t, packed, worked["phase_outputs.jsonl"])
	require.Contains(t, packed, worked["session_conversation.jsonl"])
}

// breakingWork breaks the lines of a workflow alone.
type breakingWork struct{}

func (breakingWork) Line(line []byte) []byte {
	if strings.Contains(string(line), "phase_id") {
		return []byte("{")
	}
	return line
}

// TestDamagedWorkflow shows what can be read, and tells that it is not all.
func TestDamagedWorkflow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"phase_outputs.jsonl", "session_conversation.jsonl"} {
		st := store(t)
		write(t, st, "s", time.Now(), worked)
		write(t, st, "s", time.Now(), map[string]string{name: "garbage\n" + worked[name]})
		for _, f := range []Format{Markdown, HTML} {
			text, err := written(t, st, WriteOptions{Format: f})
			require.ErrorIs(t, err, sessionstore.ErrCorrupt)
			require.Contains(t, text, "The records of the workflow are damaged")
			require.Contains(t, text, "Looks good")
			require.Contains(t, text, "no network")
			require.NotContains(t, text, "garbage")
		}
	}
}
