package layers

import (
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/api.txt")

// TestPublicFace holds what the public packages show. No exported identifier mentions a
// type of an internal package, which no user can name. And every change shows in
// testdata/api.txt, so that it is seen where changes are read:
// go test -C internal/test/repository ./layers -run PublicFace -update writes that list.
func TestPublicFace(t *testing.T) {
	t.Parallel()
	lines := slices.Concat(face(t, "."), face(t, "sessionstore/archive/foreign"), face(t, "hybrid/postgres"), face(t, "hybrid/s3"), face(t, "hybrid/telemetry"), face(t, "sessionstore/bridge/acp"), face(t, "sessionstore/bridge/adk"), face(t, "sessionstore/bridge/anthropic"), face(t, "sessionstore/bridge/genai"), face(t, "sessionstore/bridge/openai")) // the modules for import
	golden := filepath.Join("testdata", "api.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range slices.Concat(want, lines) {
		assert.NotContains(t, line, "/internal/", "a type of an internal package")
		assert.True(t, slices.Contains(want, line) && slices.Contains(lines, line), "%s: see whether that is meant, then run with -update\n%s",
			map[bool]string{true: "gone or changed", false: "new"}[i < len(want)], line)
	}
}

// face returns a line for each exported identifier of the public packages in a module.
func face(t *testing.T, mod string) (lines []string) {
	pkgs := list(t, filepath.Join(root, mod), nil, "-export", "./...")
	slices.SortFunc(pkgs, func(a, b listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	imp := compiled(pkgs)
	for _, p := range pkgs {
		name, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || mod != "." && name != mod || p.Name == "main" || hidden(p.ImportPath) {
			continue
		}
		pkg, err := imp.Import(p.ImportPath)
		require.NoError(t, err)
		l := &lister{pkg: pkg, name: name, seen: map[types.Object]bool{}}
		for _, id := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(id); obj.Exported() {
				l.object(obj)
			}
		}
		slices.Sort(l.lines)
		lines = append(lines, slices.Compact(l.lines)...)
	}
	return lines
}

// hidden reports whether a package is not for users.
func hidden(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal") || strings.HasPrefix(path, module+"/examples/")
}

// lister collects the face of one package.
type lister struct {
	pkg   *types.Package
	name  string
	seen  map[types.Object]bool // types of the package that were listed
	lines []string
}

var word = regexp.MustCompile(`[^\pL\d_."]([\pL_][\pL\d_]*)`)

// add lists one identifier, and the unexported types of the package that it mentions:
// users get at what those have.
func (l *lister) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.lines = append(l.lines, "pkg "+l.name+", "+text)
	for _, found := range word.FindAllStringSubmatch(text, -1) {
		if obj, ok := l.pkg.Scope().Lookup(found[1]).(*types.TypeName); ok {
			l.object(obj)
		}
	}
}

// text returns a type, with the whole path of an internal package.
func (l *lister) text(typ types.Type) string {
	return types.TypeString(typ, func(p *types.Package) string {
		if p == l.pkg {
			return ""
		} else if strings.HasPrefix(p.Path(), module) && hidden(p.Path()) {
			return p.Path()
		}
		return p.Name()
	})
}

// signature returns the type of a function without the names of its parameters, on which
// callers do not depend.
func (l *lister) signature(typ types.Type) string {
	sig := typ.(*types.Signature)
	bare := func(t *types.Tuple) *types.Tuple {
		vars := make([]*types.Var, t.Len())
		for i := range vars {
			vars[i] = types.NewParam(token.NoPos, nil, "", t.At(i).Type())
		}
		return types.NewTuple(vars...)
	}
	text := l.text(types.NewSignatureType(nil, nil, nil, bare(sig.Params()), bare(sig.Results()), sig.Variadic()))
	text = strings.TrimPrefix(text, "func")
	for i := sig.TypeParams().Len() - 1; i >= 0; i-- {
		p := sig.TypeParams().At(i)
		text = fmt.Sprintf("[%s %s]%s", p, l.text(p.Constraint()), text)
	}
	return text
}

func (l *lister) object(obj types.Object) {
	if l.seen[obj] {
		return
	}
	l.seen[obj] = true
	switch obj := obj.(type) {
	case *types.Const:
		l.add("const %s %s = %s", obj.Name(), l.text(obj.Type()), obj.Val().ExactString())
	case *types.Var:
		l.add("var %s %s", obj.Name(), l.text(obj.Type()))
	case *types.Func:
		l.add("func %s%s", obj.Name(), l.signature(obj.Type()))
	case *types.TypeName:
		if named, ok := obj.Type().(*types.Named); ok {
			l.named(obj.Name(), named)
		} else {
			l.add("type %s = %s", obj.Name(), l.text(types.Unalias(obj.Type())))
		}
	}
}

// named lists a type with what can be reached through its values.
func (l *lister) named(name string, named *types.Named) {
	for p := range named.TypeParams().TypeParams() {
		l.add("type %s[%s %s]", name, p, l.text(p.Constraint()))
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		l.fields(name, u)
	case *types.Interface:
		l.add("type %s interface", name)
		for e := range u.EmbeddedTypes() {
			l.add("type %s interface, embeds %s", name, l.text(e))
		}
		for m := range u.Methods() {
			if m.Exported() {
				l.add("type %s interface, %s%s", name, m.Name(), l.signature(m.Type()))
			} else { // no user can implement it
				l.add("type %s interface, unexported methods", name)
			}
		}
		return
	default:
		l.add("type %s %s", name, l.text(u))
	}
	values := types.NewMethodSet(named)
	for sel := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if fn := sel.Obj(); fn.Exported() {
			receiver := name
			if values.Lookup(fn.Pkg(), fn.Name()) == nil {
				receiver = "*" + name
			}
			l.add("method (%s) %s%s", receiver, fn.Name(), l.signature(sel.Type()))
		}
	}
}

// fields lists the exported fields of a struct, and those of unexported structs that are
// embedded in it.
func (l *lister) fields(name string, u *types.Struct) {
	for i := range u.NumFields() {
		f := u.Field(i)
		if f.Exported() {
			text := fmt.Sprintf("type %s struct, %s %s `%s`", name, f.Name(), l.text(f.Type()), u.Tag(i))
			l.add("%s", strings.TrimSuffix(text, " ``"))
			continue
		}
		typ := f.Type()
		if p, ok := types.Unalias(typ).(*types.Pointer); ok {
			typ = p.Elem()
		}
		if inner, ok := typ.Underlying().(*types.Struct); ok && f.Embedded() {
			l.fields(name, inner)
		}
	}
}
