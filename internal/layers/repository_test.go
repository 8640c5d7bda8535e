package layers

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root leads from the folder of this package to the top of the repository.
const root = "../.."

func TestSources(t *testing.T) {
	t.Parallel()
	sources, err := readSources(root)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(sources, func(s source) bool { return s.path == "internal/layers/repository_test.go" }))

	rules := []struct {
		name string
		rule func(source) []string
	}{
		{"imports go downwards", upward},
		{"reserved imports", misimported},
		{"nothing is put off", postponed},
		{"libraries do not panic", panics},
		{"who changes files", func(s source) []string { return misplaced(qualified(s)) }},
	}
	for _, tt := range rules {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var found []string
			for _, s := range sources {
				found = append(found, tt.rule(s)...)
			}
			require.Empty(t, found, strings.Join(found, "\n"))
		})
	}
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Contains(t, names, "go.mod")
	require.Empty(t, strangers(names))
}

// TestDependencies asks for three systems, because what a package imports
// differs between them.
func TestDependencies(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			pkgs, err := list(root, []string{"GOOS=" + goos, "GOARCH=amd64", "CGO_ENABLED=0"}, "-deps", "./...")
			require.NoError(t, err)
			imports := map[string][]string{}
			for _, p := range pkgs {
				imports[p.ImportPath] = p.Imports
			}
			require.Contains(t, imports, module+"/internal/layers")
			for path := range imports {
				pkg, ours := strings.CutPrefix(path, module+"/")
				if layer, _ := place(pkg); ours && layer < 5 { // what stands below hybrid
					require.Empty(t, foreign(imports, path))
				}
			}
		})
	}
}

// TestMethods finds what the names alone do not tell: methods of os.Root and
// os.File. It must see the one that gives files their names.
func TestMethods(t *testing.T) {
	t.Parallel()
	refs, err := typed(root)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(refs, func(r reference) bool {
		return r.pkg == "internal/atomicfile" && renaming.MatchString(r.name)
	}))
	found := misplaced(refs)
	require.Empty(t, found, strings.Join(found, "\n"))
}
