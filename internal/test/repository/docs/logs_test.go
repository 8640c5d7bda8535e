package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLogKeysAreTold finds messages of the packages' logs that are made up at
// run time, and keys that sessionstore/README.md does not name.
func TestLogKeysAreTold(t *testing.T) {
	t.Parallel()
	readme := text(t, "sessionstore/README.md")
	messages := 0
	for _, pkg := range append(slices.Clone(public), "hybrid/internal/syncer") { // by the logger of hybrid
		paths, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		require.NoError(t, err)
		for _, path := range paths {
			if matched, _ := filepath.Match("*_test.go", filepath.Base(path)); matched {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !logs(call) {
					return true
				}
				messages++
				for i, arg := range call.Args {
					if i%2 == 0 && i > 0 { // a value
						continue
					}
					literal, ok := arg.(*ast.BasicLit)
					require.True(t, ok, "%s: what a log says is not constant", path)
					key, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					if i > 0 {
						require.Contains(t, readme, "`"+key+"`", "%s: log key %s", path, key)
					}
				}
				return true
			})
		}
	}
	require.Greater(t, messages, 10)
}

// logs reports whether a call is one of a logger's, by its name.
func logs(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, s.Sel.Name) || len(call.Args) == 0 {
		return false
	}
	switch of := s.X.(type) {
	case *ast.Ident:
		return of.Name == "log"
	case *ast.SelectorExpr:
		return of.Sel.Name == "log" || of.Sel.Name == "Log"
	}
	return false
}
