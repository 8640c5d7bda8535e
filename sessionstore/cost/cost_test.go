package cost_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/cost"
)

func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := write(dir, "s", "events.jsonl", response(`"s"`, "0.10")+response(`"s"`, "0.05")); err != nil {
		log.Fatal(err)
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	r, err := cost.SoFar(context.Background(), st, "s")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.USD, r.Problems)
	// Output: 0.15 []
}

func response(session, usd string) string {
	return `{"event": "llm:response", "session_id": ` + session + `, "data": {"usage": {"cost_usd": "` + usd + `"}}}` + "\n"
}

func write(dir, id, name, text string) error {
	path := filepath.Join(dir, id, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// TestSoFar chooses between a session and a fork, and between their logs.
func TestSoFar(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "project", "sessions")
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer st.Close()
	put := func(id, name, text string) { require.NoError(t, write(dir, id, name, text)) }
	restore := func(id string) cost.Restored {
		r, err := cost.SoFar(t.Context(), st, id)
		require.NoError(t, err)
		return r
	}
	put("s", "events.jsonl", response(`"s"`, "1")+response("null", "2"))
	require.Equal(t, "3", restore("s").USD, "rows that name no session count")
	add, ok := restore("s").Contribution()
	require.True(t, ok)
	require.Equal(t, cost.Contribution{"session.cost", "history:s", "3"}, add)
	put("s", "context-intelligence/events.jsonl", response(`"s"`, "5"))
	require.Equal(t, "5", restore("s").USD, "one file counts")

	put("s", "metadata.json", `{"forked_from_turn": 1}`)
	r := restore("s")
	require.True(t, r.Fork)
	require.Equal(t, []string{"missing_fork_cost_boundary"}, r.Problems)
	put("s", "metadata.json", `{bad`)
	require.Equal(t, []string{"missing_fork_cost_boundary", "unreadable_fork_metadata"}, restore("s").Problems)
	require.NoError(t, os.Remove(filepath.Join(dir, "s", "metadata.json")))

	t.Setenv("AMPLIFIER_CONTEXT_INTELLIGENCE_BASE_PATH", filepath.Join(base, "elsewhere"))
	require.Equal(t, "3", restore("s").USD, "the capture in the session does not count")
	require.NoError(t, write(filepath.Join(base, "elsewhere", "project", "sessions"), "s", "context-intelligence/events.jsonl", response(`"s"`, "7")))
	require.Equal(t, "7", restore("s").USD)

	put("none", "transcript.jsonl", "")
	r = restore("none")
	require.False(t, r.Known)
	require.Equal(t, "0", r.USD)
	_, ok = r.Contribution()
	require.False(t, ok)
	_, err = cost.SoFar(t.Context(), st, "gone")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
}
