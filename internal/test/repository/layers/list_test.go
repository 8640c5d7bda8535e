package layers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

const module, root = "github.com/amplifier-go/sessionstorage", "../../../.."

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// listed is what go list reports of a package.
type listed struct {
	ImportPath, Name, Export string
	CgoFiles                 []string
	Module                   struct{ Path string }
}

// list runs go list in a folder.
func list(t *testing.T, folder string, env []string, args ...string) (pkgs []listed) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Export,CgoFiles,Module", "-deps"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = folder, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listed
		require.NoError(t, dec.Decode(&p))
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// compiled returns an importer of packages that were listed with -export.
func compiled(pkgs []listed) types.Importer {
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		for _, p := range pkgs {
			if p.ImportPath == path && p.Export != "" {
				return os.Open(p.Export)
			}
		}
		return nil, fmt.Errorf("package %s does not build", path)
	})
}

// TestTopRequiresNoneBelow holds that the module at the top requires no other of the
// repository: each of them requires it, and a release tags it first.
func TestTopRequiresNoneBelow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.NotContains(t, string(text), module+"/")
}

// TestDependencies holds the modules of which all but the adapters of remotes, the examples
// and the tests are built, at any distance, and that nothing needs cgo. It asks for three
// systems, because what a package imports differs between them.
func TestDependencies(t *testing.T) {
	t.Parallel()
	local := []string{
		module, "github.com/fsnotify/fsnotify", "github.com/google/renameio/v2",
		"github.com/klauspost/cpuid/v2", "github.com/zeebo/xxh3", "golang.org/x/sys",
	}
	const importers = "sessionstore/archive/foreign"
	for _, of := range []struct {
		folder   string // of the module
		packages []string
		allowed  []string
	}{
		{".", []string{"./eventslog/...", "./slice", "./slice/accept", "./slice/conversation", "./sessionstore/..."}, local},
		{".", []string{"./slice/accept/scale"}, append(slices.Clip(local), "golang.org/x/image")},
		{".", []string{"./hybrid", "./hybrid/dir"}, append(slices.Clip(local), "github.com/klauspost/compress")},
		{importers, []string{"./..."}, append(
			slices.Clip(local), "github.com/klauspost/compress", "go.yaml.in/yaml/v3", "golang.org/x/image", module+"/"+importers,
			"modernc.org/sqlite", "modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory", // and what these need
			"github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime", "github.com/remyoudompheng/bigfft",
		)},
	} {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			pkgs := list(t, filepath.Join(root, of.folder), []string{"GOOS=" + goos, "GOARCH=amd64", "CGO_ENABLED=1"}, of.packages...)
			require.Greater(t, len(pkgs), 100)
			for _, p := range pkgs {
				if p.Module.Path != "" { // it is not of the standard library
					require.Contains(t, of.allowed, p.Module.Path, p.ImportPath)
					require.Empty(t, p.CgoFiles, p.ImportPath)
				}
			}
		}
	}
}
