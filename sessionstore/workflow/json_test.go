package workflow

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var update = flag.Bool("update", false, "write the golden files")

// TestJSON holds the JSON of all types, filled and empty, against a golden file.
func TestJSON(t *testing.T) {
	t.Parallel()
	md, err := sessionstore.ParseMetadata([]byte(`{"session_id": "s", "manifest_name": "research", "status": "in_progress", "x": 1.0}`))
	require.NoError(t, err)
	values := []any{
		PhaseOutput{SessionID: new("123"), PhaseID: "phase_1", PhaseName: "Research", Status: running, SystemPrompt: new("You are a research assistant..."), UserInput: new("Analyze the following topic...")},
		PhaseOutput{},
		PhaseRecord{7, "123", "phase_1", "Research", failed, new("p"), new("i"), new("o"), new("e"), "2026-11-18T12:00:00.000Z", "2026-11-18T12:00:01.500Z"},
		PhaseRecord{},
		SessionMessage{1, "123", new("phase_1"), userRole, "hello", "2026-11-18T12:00:00.000Z"},
		SessionMessage{},
		ResumeResult{md, "phase_2", ResumeContext{ReconstructContext(recordsOf(1), 0), "phase_1", 7, 1}},
		ResumeResult{md, "", ResumeContext{ReconstructContext(nil, 0), "phase_7", 7, 7}},
	}
	var got []byte
	for _, v := range values {
		line, err := json.Marshal(v)
		require.NoError(t, err)
		got = append(append(got, line...), '\n')
	}
	golden(t, "testdata/types.jsonl", got)
}

// TestSerialization is the original contract's example of a payload, but for
// the session's id, which is a text here.
func TestSerialization(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(PhaseOutput{
		SessionID: new("123"), PhaseID: "phase_1", PhaseName: "Research", Status: running,
		SystemPrompt: new("You are a research assistant..."), UserInput: new("Analyze the following topic..."),
	}, "", "  ")
	require.NoError(t, err)
	golden(t, "testdata/payload.json", append(got, '\n'))
}

// TestLines holds the lines of both logs against golden files.
func TestLines(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	save(t, l, PhaseOutput{PhaseID: "phase_1", PhaseName: "Research", Status: running, SystemPrompt: new("You <are>\n\u2028é"), UserInput: new("Analyze")})
	save(t, l, PhaseOutput{PhaseID: "phase_1", PhaseName: "ignored", Status: completed, Output: new("The analysis")})
	save(t, l, PhaseOutput{PhaseID: "phase_2", Status: failed, Error: new("no \"model\"")})
	golden(t, "testdata/phase_outputs.jsonl", []byte(readFile(t, st, phaseFile)))
	add(t, l, new("phase_1"), userRole, "hello")
	add(t, l, nil, systemRole, "")
	golden(t, "testdata/session_conversation.jsonl", []byte(readFile(t, st, conversationFile)))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
