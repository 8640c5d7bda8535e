package workflow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPromptsTakeNoMemory resumes a workflow of large system prompts in the memory of a
// line, and reads their records in that of the prompts. The first save reads the log
// whole, and no prompt beside. No other test runs
// meanwhile.
func TestPromptsTakeNoMemory(t *testing.T) {
	l, st := newLog(t, `{}`, research)
	const phases, size = 100, 256 << 10
	var lines strings.Builder
	prompt := strings.Repeat("Be careful. ", size/12)
	for i := range phases {
		id := fmt.Sprint("phase-", i)
		if i == phases-1 {
			id = "phase_1"
		}
		fmt.Fprintf(&lines, `{"id": %d, "phase_id": %q, "phase_name": "n", "status": "completed", "system_prompt": %q, "user_input": "i%d", "output": "o%d", "error": null, "created_at": "2026-03-01T10:00:00.000Z", "updated_at": "2026-03-01T10:00:00.000Z"}`+"\n", i+1, id, prompt, i, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), "s", phaseFile), []byte(lines.String()), 0o600))
	before := allocated()
	r, err := l.Resume(t.Context(), "s")
	require.NoError(t, err)
	require.Less(t, allocated()-before, uint64(4<<20), "of %d MiB in the log", lines.Len()>>20)
	require.Equal(t, "phase_2", r.NextPhaseID)
	require.Equal(t, phases, r.Context.CompletedPhases)
	before = allocated()
	records, err := l.PhaseOutputs(t.Context(), "s")
	require.NoError(t, err)
	require.Less(t, allocated()-before, uint64(lines.Len()*5/4), "the prompts once")
	require.Equal(t, ReconstructContext(records, 0), r.Context.History)
	require.Len(t, *records[0].SystemPrompt, len(prompt), "who asks for records gets the prompts")

	before = allocated()
	save(t, l, PhaseOutput{PhaseID: "phase_2", Status: running})
	require.Less(t, allocated()-before, uint64(lines.Len()*5/4))
}
