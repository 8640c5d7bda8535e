package foreign

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExportAgain continues a session on both sides, and exports it a second time: the tool
// goes on with that, too, and what it says is a fork of the session.
func TestExportAgain(t *testing.T) {
	t.Parallel()
	eachTool(t, func(t *testing.T, a *away) {
		a.export()
		a.goOn("Theirs")
		a.say("Ours")
		require.Len(t, a.back(), 1)
		here := a.rows(a.id)

		var b, same bytes.Buffer
		done, err := ExportAgain(t.Context(), a.st, a.id, a.tool, 1, &b, nil)
		require.NoError(t, err)
		again, err := ExportAgain(t.Context(), a.st, a.id, a.tool, 1, &same, nil)
		require.NoError(t, err)
		require.Equal(t, done, again)
		require.Equal(t, b.String(), same.String())
		require.Equal(t, len(native)+2, done.Messages)
		require.NotEqual(t, a.thread(), done.ID)
		other, err := ExportAgain(t.Context(), a.st, a.id, a.tool, 2, &same, nil)
		require.NoError(t, err)
		require.NotEqual(t, done.ID, other.ID)

		if a.tool == OpenCode {
			a.path = filepath.Join(filepath.Dir(a.path), done.ID+".jsonl")
			(&openCodeHome{a.t, a.home, a.p}).take(b.Bytes())
		} else {
			place, err := programs[string(a.tool)].Place("/w", done.File)
			require.NoError(t, err)
			a.path = filepath.Join(a.home, place)
			require.NoError(t, os.MkdirAll(filepath.Dir(a.path), 0o700))
			require.NoError(t, os.WriteFile(a.path, b.Bytes(), 0o600))
		}
		a.goOn("More")
		var fork string
		for _, s := range a.back() {
			if s.Action == Created {
				fork = s.ID
			}
		}
		require.NotEmpty(t, fork)
		require.Equal(t, here, a.rows(a.id))
		md, err := a.st.Metadata(t.Context(), fork)
		require.NoError(t, err)
		require.Equal(t, a.id, md.Text("parent_id"))
		require.Equal(t, append([]string{"Ours by the user", "Ours by the assistant"}, both("More")...), a.said(fork, len(native)))
	})
	_, err := ExportAgain(t.Context(), nil, "x", "vim", 1, nil, nil)
	require.ErrorIs(t, err, ErrTool)
}
