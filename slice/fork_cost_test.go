package slice_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

const captured = "context-intelligence/events.jsonl"

// TestForkKnowsItsCost forks a session, goes on with the fork, and forks that:
// each knows what it cost with all that it inherits.
func TestForkKnowsItsCost(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	spent := func(prompt, usd string) string {
		return `{"event": "prompt:submit", "data": {"session_id": "ID", "prompt": "` + prompt + `"}}` + "\n" +
			`{"event": "llm:response", "data": {"session_id": "ID", "usage": {"cost_usd": "` + usd + `"}}}` + "\n"
	}
	capture := func(id, text string) { put(t, st, id, map[string]string{captured: strings.ReplaceAll(text, "ID", id)}) }
	put(t, st, "a", map[string]string{
		transcriptFile: said("user", "one", 1) + said("assistant", "1", 2) + said("user", "two", 3) + said("assistant", "2", 4),
		metadataFile:   `{"session_visibility": "internal", "session_purpose": "p", "name": "n"}`,
	})
	capture("a", spent("one", "0.10")+spent("two", "0.20"))

	done, err := slice.Fork(t.Context(), st, "a", &slice.ForkOptions{NewID: "b", Turn: new(1)})
	require.NoError(t, err)
	require.True(t, done.CostKnown)
	require.Empty(t, done.CostProblems)
	require.Equal(t, "a", done.ParentID)
	files := get(t, st, "b")
	require.NotContains(t, files, eventsFile)
	require.NotContains(t, files, captured)
	md, err := st.Metadata(t.Context(), "b")
	require.NoError(t, err)
	require.Equal(t, "chat", md.Text("session_visibility"))
	require.Empty(t, md.Text("session_purpose")+md.Text("name"))
	kind, parent := sessionstore.KindOf("b", md)
	require.Equal(t, sessionstore.Root, kind)
	require.Equal(t, "a", parent)

	usd, problems := costOfFork(t, st, "b")
	require.Equal(t, []string{"missing_ci_capture:b"}, problems)
	require.Equal(t, "0.10", usd)
	capture("b", spent("three", "0.5"))
	more, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "three"}`))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "b", more))
	usd, problems = costOfFork(t, st, "b")
	require.Empty(t, problems)
	require.Equal(t, "0.60", usd)

	done, err = slice.Fork(t.Context(), st, "b", &slice.ForkOptions{NewID: "c"})
	require.NoError(t, err)
	require.True(t, done.CostKnown)
	usd, _ = costOfFork(t, st, "c")
	require.Equal(t, "0.60", usd)
	done, err = slice.Fork(t.Context(), st, "a", &slice.ForkOptions{NewID: "o", Older: true})
	require.NoError(t, err)
	require.False(t, done.CostKnown)
	require.NotContains(t, get(t, st, "o")[metadataFile], "fork_cost_boundary")
}

// costOfFork returns what the newest tools say that a fork cost so far: what it inherits,
// and the responses in its log.
func costOfFork(t *testing.T, st *sessionstore.Store, id string) (usd string, problems []string) {
	t.Helper()
	md, err := st.Metadata(t.Context(), id)
	require.NoError(t, err)
	boundary, _ := md.Lookup(sessioncost.Member)
	log, err := sessioncost.Open(t.Context(), sessioncost.LocateHere(filepath.Join(st.Dir(), id)).Capture, id)
	require.NoError(t, err)
	total, problems, err := log.Fork(sessioncost.Verify(boundary), id)
	require.NoError(t, err)
	return total.String(), problems
}

// TestForkWithoutACapture forks a session whose cost nobody knows.
func TestForkWithoutACapture(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, "a", map[string]string{transcriptFile: said("user", "one", 1)})
	done, err := slice.Fork(t.Context(), st, "a", nil)
	require.NoError(t, err)
	require.False(t, done.CostKnown)
	require.Equal(t, []string{"missing_ci_capture:a"}, done.CostProblems)
}
