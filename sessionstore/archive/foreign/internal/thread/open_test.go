package thread

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBelowNamesOnce names a file that could not be read, once.
func TestBelowNamesOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.jsonl")
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	for _, failed := range []error{&fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}, errors.New("it is damaged")} {
		err := Below(t.Context(), dir, func(*Folder, string, fs.DirEntry) error { return failed })
		require.ErrorIs(t, err, failed)
		require.Equal(t, 1, strings.Count(err.Error(), name))
	}
}
