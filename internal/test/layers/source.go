package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// module is the path of the root module. Nested modules are named as their
// folders are, so that one prefix covers them all.
const module = "github.com/amplifier-go/sessionstorage"

// source is a parsed Go file.
type source struct {
	path string // from the top of the repository, with slashes
	fset *token.FileSet
	file *ast.File
}

func parse(name string, code []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, code, parser.ParseComments|parser.SkipObjectResolution)
	return source{path: name, fset: fset, file: file}, err
}

// pkg returns the folder of the file, which names its package.
func (s source) pkg() string { return path.Dir(s.path) }

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

func (s source) finding(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.line(pos), fmt.Sprintf(format, args...))
}

// importPath returns the path that spec imports.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// readSources parses every Go file below root, also of nested modules; testdata and names
// with a dot at the front are left out.
func readSources(root string) ([]source, error) {
	var all []source
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		code, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		s, err := parse(name, code)
		all = append(all, s)
		return err
	})
	return all, err
}
