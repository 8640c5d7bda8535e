package layers

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is the go command's description of a package.
type listed struct {
	ImportPath, Name, Dir, Export string
	Imports, GoFiles              []string
}

// list runs go list in root with the variables env.
func list(root string, env []string, args ...string) (pkgs []listed, err error) {
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Name,Dir,Export,Imports,GoFiles"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), env...)
	var text strings.Builder
	cmd.Stderr = &text
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, text.String())
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// compiled returns an importer of packages that list returned with -export.
func compiled(fset *token.FileSet, pkgs []listed) types.Importer {
	exports := map[string]string{}
	for _, p := range pkgs {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s does not build", path)
		}
		return os.Open(exports[path])
	})
}

// typed returns the uses of all functions and methods in the files that are built on this
// platform and are no tests. The compiler reports a package that does not build: for it,
// typed returns only the uses that could be resolved.
func typed(root string) (refs []reference, err error) {
	pkgs, err := list(root, nil, "-export", "-deps", "./...")
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	imp := compiled(fset, pkgs)
	for _, p := range pkgs {
		pkg, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		uses, err := check(fset, imp, p)
		if err != nil {
			return nil, err
		}
		for id, obj := range uses {
			if fn, ok := obj.(*types.Func); ok {
				pos := fset.Position(id.Pos())
				at := fmt.Sprintf("%s/%s:%d", pkg, filepath.Base(pos.Filename), pos.Line)
				refs = append(refs, reference{pkg, at, fn.FullName()})
			}
		}
	}
	return refs, nil
}

// check resolves the names in the files of p.
func check(fset *token.FileSet, imp types.Importer, p listed) (map[*ast.Ident]types.Object, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imp, Error: func(error) {}}
	_, _ = conf.Check(p.ImportPath, fset, files, info)
	return info.Uses, nil
}
