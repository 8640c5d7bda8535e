package layers

import (
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// graph says which files of a package refer to which others: a file refers to
// another when it uses something that is declared there.
type graph map[string]map[string]bool

// add adds that from refers to to.
func (g graph) add(from, to string) {
	if g[from] == nil {
		g[from] = map[string]bool{}
	}
	if from != to {
		g[from][to] = true
	}
}

// reach returns the files that from refers to, at any distance.
func (g graph) reach(from string) map[string]bool {
	seen := map[string]bool{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for to := range g[queue[0]] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// circles returns the sets of files that all refer to each other, in the order
// of their names.
func (g graph) circles() (found [][]string) {
	reach := map[string]map[string]bool{}
	for file := range g {
		reach[file] = g.reach(file)
	}
	done := map[string]bool{}
	for file := range g {
		if done[file] || !reach[file][file] {
			continue
		}
		var circle []string
		for other := range reach[file] {
			if reach[other][file] {
				circle = append(circle, other)
				done[other] = true
			}
		}
		slices.Sort(circle)
		found = append(found, circle)
	}
	slices.SortFunc(found, slices.Compare)
	return found
}

// fileGraphs returns the graph of each of the root module's packages that
// patterns name, by its folder: of the files that are built on this platform
// and are no tests.
func fileGraphs(root string, patterns ...string) (map[string]graph, error) {
	pkgs, err := list(root, nil, append([]string{"-export", "-deps"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range pkgs {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	graphs := map[string]graph{}
	for _, p := range pkgs {
		folder, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		uses, err := check(fset, imp, p)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", folder, err)
		}
		g := graph{}
		file := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
		for id, obj := range uses {
			if obj.Pkg() != nil && obj.Pkg().Path() == p.ImportPath {
				g.add(file(id.Pos()), file(obj.Pos()))
			}
		}
		graphs[folder] = g
	}
	return graphs, nil
}
