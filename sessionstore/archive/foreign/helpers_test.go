package foreign

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func original(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// unpacked returns the original that a session keeps.
func unpacked(t testing.TB, st *sessionstore.Store, id string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(st.Dir(), id, "import", "original.jsonl.zst"))
	require.NoError(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	require.NoError(t, err)
	defer z.Close()
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(data)
}

// tree returns the files of sessions below dir.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && rel != "." {
			return fs.SkipDir
		}
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			files[rel] = original(t, path)
		}
		return nil
	}))
	return files
}
