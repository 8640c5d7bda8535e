package foreign

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSegmentGone removes one of the files of a thread after Find has named it.
func TestSegmentGone(t *testing.T) {
	t.Parallel()
	h := newCodexHome(t)
	first := codexLines(0, "", "One")
	h.put(0, first)
	h.put(1, codexLines(3, base(threadID, 3, len(first)), "Two"))
	all, err := Find(t.Context(), Codex, &FindOptions{Home: h.dir})
	require.NoError(t, err)
	require.Len(t, all, 1)
	files, err := filepath.Glob(filepath.Join(h.dir, "sessions", "*_*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.Remove(files[0]))
	_, err = Import(t.Context(), h.p, all[0], nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
