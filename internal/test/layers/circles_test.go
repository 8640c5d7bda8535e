package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoCirclesOfFiles: inside a package references between files run one way.
func TestNoCirclesOfFiles(t *testing.T) {
	t.Parallel()
	pkgs := list(t, root, nil, "-export", "./sessionstore/...", "./slice/...", "./eventslog/...", "./internal/...")
	fset := token.NewFileSet()
	imp := compiled(fset, pkgs)
	for _, p := range pkgs {
		if strings.HasPrefix(p.ImportPath, module+"/") {
			refs := references(t, fset, imp, p)
			for file := range refs {
				assert.Empty(t, circle(refs, file, file, map[string]bool{}), "%s: these files refer to each other in a circle", p.ImportPath)
			}
		}
	}
}

// references returns the files of p that use something which another one declares, and
// those others. It looks at files that are built on this platform and are no tests.
func references(t *testing.T, fset *token.FileSet, imp types.Importer, p listed) map[string][]string {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	_, err := (&types.Config{Importer: imp}).Check(p.ImportPath, fset, files, info)
	require.NoError(t, err)
	refs := map[string][]string{}
	for id, obj := range info.Uses {
		from, to := fset.Position(id.Pos()).Filename, fset.Position(obj.Pos()).Filename
		if obj.Pkg() != nil && obj.Pkg().Path() == p.ImportPath && from != to {
			refs[from] = append(refs[from], to)
		}
	}
	return refs
}

// circle returns the files on a way of references from at to end, and nil when there is none.
func circle(refs map[string][]string, at, end string, seen map[string]bool) []string {
	for _, to := range refs[at] {
		if to == end {
			return []string{at}
		}
		if !seen[to] {
			seen[to] = true
			if way := circle(refs, to, end, seen); way != nil {
				return append(way, at)
			}
		}
	}
	return nil
}
