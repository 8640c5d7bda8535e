package claude

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// TestAgentThatCannotBeRead has two files of one sub-agent, of which one is not there.
func TestAgentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	good := filepath.Join(t.TempDir(), "agent-1.jsonl")
	require.NoError(t, os.WriteFile(good, []byte(`{"type":"user","uuid":"a","message":{"role":"user","content":"Do it."}}`+"\n"), 0o600))
	one := thread.History{Agents: []string{filepath.Join(t.TempDir(), "agent-1.jsonl"), good}}
	require.ErrorIs(t, joinAgents(t.Context(), &one), os.ErrNotExist)
	require.Equal(t, []string{good}, one.Agents)
}
