package docs

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module  = "github.com/amplifier-go/sessionstorage"
	version = "v0.0.1"
)

// newModule makes a program's module.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/program\n\ngo 1.26.0\n"), 0o600))
	return dir
}

// published returns the variables for a Go command that finds the library as if
// it was published: in a proxy made of the files of top, beside what the module
// cache has.
func published(t *testing.T, top string) []string {
	t.Helper()
	proxy := t.TempDir()
	at := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(at, 0o700))
	raw, err := os.ReadFile(filepath.Join(top, "go.mod"))
	require.NoError(t, err)
	for name, content := range map[string]string{
		"list": version + "\n", version + ".mod": string(raw),
		version + ".info": `{"Version": "` + version + `", "Time": "2026-01-01T00:00:00Z"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte(content), 0o600))
	}
	out, err := os.Create(filepath.Join(at, version+".zip"))
	require.NoError(t, err)
	pack(t, out, top)
	require.NoError(t, out.Close())
	file := func(path string) string { return "file://" + filepath.ToSlash(path) }
	return []string{
		"GOPROXY=" + file(proxy) + "," + file(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")) + "," + goEnv(t, "GOPROXY"),
		"GONOSUMDB=" + module, "GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw",
	}
}

// pack writes the files of the module in top, without those of other modules
// below it, as a proxy hands them out.
func pack(t *testing.T, out *os.File, top string) {
	t.Helper()
	archive := zip.NewWriter(out)
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != top && (err == nil || d.Name() == ".git") {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w, err := archive.Create(module + "@" + version + "/" + filepath.ToSlash(name))
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}))
	require.NoError(t, archive.Close())
}
