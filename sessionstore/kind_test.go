package sessionstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func ExampleNewLabels() {
	env := map[string]string{"AMPLIFIER_SESSION_VISIBILITY": "internal", "AMPLIFIER_SESSION_PURPOSE": "memory.suggestion"}
	var md sessionstore.Metadata
	if err := sessionstore.NewLabels(func(name string) string { return env[name] }).Set(&md); err != nil {
		fmt.Println(err)
	}
	kind, _ := sessionstore.KindOf("8f14", md)
	fmt.Println(kind, md.Text("session_purpose"))
	// Output: internal memory.suggestion
}

// TestListWithoutInternal lists sessions with and without those that are
// labelled internal, with limits, which count what is listed.
func TestListWithoutInternal(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "p", "sessions")
	for i, metadata := range []string{`{}`, `{"session_visibility": "internal"}`, `{bad`, `{"session_visibility": "internal"}`, ``, `{"session_visibility": "chat"}`} {
		path := filepath.Join(dir, fmt.Sprint("s", i))
		require.NoError(t, os.MkdirAll(path, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, "transcript.jsonl"), []byte(`{"role": "user", "content": "x"}`+"\n"), 0o600))
		if metadata != "" {
			require.NoError(t, os.WriteFile(filepath.Join(path, "metadata.json"), []byte(metadata), 0o600))
		}
		at := time.Unix(int64(1000-i), 0)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer st.Close()
	every, err := projects.Open(top, nil)
	require.NoError(t, err)
	defer every.Close()
	for limit, want := range map[int][]string{
		0: {"s0", "s2", "s4", "s5"}, 1: {"s0"}, 2: {"s0", "s2"}, 3: {"s0", "s2", "s4"}, 9: {"s0", "s2", "s4", "s5"},
	} {
		o := &sessionstore.ListOptions{NoInternal: true, Limit: limit}
		var listed, summed, all []string
		infos, err := st.List(t.Context(), o)
		require.NoError(t, err)
		for _, info := range infos {
			listed = append(listed, info.ID)
		}
		for s, err := range st.Summaries(t.Context(), o) {
			require.NoError(t, err)
			summed = append(summed, s.ID)
		}
		for s, err := range every.Summaries(t.Context(), o) {
			require.NoError(t, err)
			all = append(all, s.ID)
		}
		require.Equal(t, want, listed)
		require.Equal(t, want, summed)
		require.Equal(t, want, all)
	}
	infos, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, infos, 6)
}
