package layers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// root leads from the folder of this package to the top of the repository.
const root = "../../.."

func TestSources(t *testing.T) {
	t.Parallel()
	sources, err := readSources(root)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(sources, func(s source) bool { return s.path == "internal/test/layers/repository_test.go" }))

	rules := []struct {
		name string
		rule func(source) []string
	}{
		{"imports go downwards", upward},
		{"reserved imports", misimported},
		{"examples use public packages", private},
		{"nothing is put off", postponed},
		{"libraries do not panic", panics},
		{"chance has a seed", chance},
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

// TestMayDraw holds that no exception outlives its reason.
func TestMayDraw(t *testing.T) {
	t.Parallel()
	for name := range mayDraw {
		code, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		s, err := parse("other.go", code)
		require.NoError(t, err)
		require.NotEmpty(t, chance(s), "%s draws nothing any more", name)
	}
}

// TestTopLevel waits for a moment when there is no stranger: a command of the README
// writes a file there and removes it, while package docs is tested beside.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	var names []string
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		entries, err := os.ReadDir(root)
		require.NoError(t, err)
		names = nil
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if len(strangers(names)) == 0 || time.Now().After(end) {
			break
		}
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
			require.Contains(t, imports, module+"/internal/test/layers")
			for path := range imports {
				pkg, ours := strings.CutPrefix(path, module+"/")
				if layer, _ := place(pkg); ours && layer < hybrid && !slices.ContainsFunc(cloud, func(top string) bool { return within(pkg, top) }) {
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
	var refs []reference
	for _, module := range []string{"", "examples/viewer", "examples/sessions"} {
		more, err := typed(filepath.Join(root, module))
		require.NoError(t, err)
		refs = append(refs, more...)
	}
	require.True(t, slices.ContainsFunc(refs, func(r reference) bool {
		return r.pkg == "internal/disk/vfs" && renaming.MatchString(r.name)
	}))
	found := misplaced(refs)
	require.Empty(t, found, strings.Join(found, "\n"))
}
