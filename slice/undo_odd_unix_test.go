//go:build unix

package slice_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/slice"
)

// TestUndoBesideOddCopies has something with the name of a copy that is no file, older or newer
// than the copies: it is no copy.
func TestUndoBesideOddCopies(t *testing.T) {
	t.Parallel()
	for _, odd := range []struct {
		name string
		make func(target, path string) error
	}{
		{"symlink", os.Symlink},
		{"pipe", func(_, path string) error { return unix.Mkfifo(path, 0o600) }},
		{"directory", func(_, path string) error { return os.Mkdir(path, 0o700) }},
	} {
		for _, name := range []string{
			transcriptFile + ".bak-pre-rewind-20990101000000", transcriptFile + ".bak-pre-rewind-20200101000000",
			metadataFile + ".bak-pre-rename-20990101000000", metadataFile + ".bak-pre-rename-20200101000000",
		} {
			st := openStore(t, "")
			rewound(t, st)
			secret := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(secret, []byte(said("user", "secret", 1)), 0o600))
			path := filepath.Join(st.Dir(), parentID, name)
			require.NoError(t, odd.make(secret, path), odd.name)
			undo, redo, err := slice.Steps(t.Context(), st, parentID)
			require.NoError(t, err, odd.name)
			require.Equal(t, []int{1, 0}, []int{len(undo), len(redo)})
			_, err = slice.Undo(t.Context(), st, parentID, "", nil)
			require.NoError(t, err, odd.name)
			_, err = slice.Redo(t.Context(), st, parentID)
			require.NoError(t, err, odd.name)
			_, err = slice.Undo(t.Context(), st, parentID, rewindBackup, nil)
			require.NoError(t, err, odd.name)
			rows, err := os.ReadFile(filepath.Join(st.Dir(), parentID, transcriptFile))
			require.NoError(t, err)
			require.Equal(t, brokenRows, string(rows))
			_, err = slice.DropBackups(t.Context(), st, parentID)
			require.NoError(t, err)
			_, err = os.Lstat(path)
			require.NoError(t, err, "it stays")
		}
	}
}
