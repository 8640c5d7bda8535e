package layers

import (
	"fmt"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A face is the exported part of a public package.
type face struct {
	lines    []string // one for each exported identifier, with its type
	internal []string // the exported identifiers that mention a type of an internal package
}

// modules returns the folders of the modules that hold public packages: the
// repository itself, ".", and nested ones.
func modules(root string) (folders []string, err error) {
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		folder := path.Dir(name)
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || !isPublic(name)):
			return fs.SkipDir
		case d.Name() == "go.mod" && isPublic(folder):
			folders = append(folders, folder)
		}
		return nil
	})
	return folders, err
}

// faces returns the faces of the public packages of the module in the folder root, by the
// names of the packages.
func faces(root string) (map[string]face, error) {
	pkgs, err := list(root, nil, "-export", "-deps", "./...")
	if err != nil {
		return nil, err
	}
	imp := compiled(token.NewFileSet(), pkgs)
	found := map[string]face{}
	for _, p := range pkgs {
		name, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || !isPublic(name) || p.Name == "main" {
			continue
		}
		pkg, err := imp.Import(p.ImportPath)
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", p.ImportPath, err)
		}
		found[name] = faceOf(name, pkg)
	}
	return found, nil
}

// faceOf returns the face of pkg under the given name.
func faceOf(name string, pkg *types.Package) face {
	l := &lister{pkg: pkg, seen: map[*types.TypeName]bool{}}
	for _, id := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(id); obj.Exported() {
			l.object(obj)
		}
	}
	for i, line := range l.lines {
		l.lines[i] = "pkg " + name + ", " + line
	}
	slices.Sort(l.lines)
	slices.Sort(l.internal)
	return face{lines: slices.Compact(l.lines), internal: slices.Compact(l.internal)}
}

// lister collects the face of one package.
type lister struct {
	face
	pkg  *types.Package
	seen map[*types.TypeName]bool // types of the package that were listed
}

// add lists one identifier, with its kind and its type.
func (l *lister) add(text string, typ types.Type) {
	l.lines = append(l.lines, text)
	m := mentions{pkg: l.pkg, typs: map[types.Type]bool{}}
	m.walk(typ)
	for _, other := range m.internal {
		l.internal = append(l.internal, fmt.Sprintf("%s: %s mentions %s", l.pkg.Path(), text, other))
	}
	for _, hidden := range m.hidden {
		l.typeName(hidden)
	}
}

func (l *lister) text(typ types.Type) string {
	return types.TypeString(typ, func(p *types.Package) string {
		if p == l.pkg {
			return ""
		}
		return p.Name()
	})
}

// signature returns the type of a function without the names of its
// parameters, which callers do not depend on.
func (l *lister) signature(typ types.Type) string {
	sig := typ.(*types.Signature)
	bare := func(t *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range t.Variables() {
			vars = append(vars, types.NewParam(token.NoPos, nil, "", v.Type()))
		}
		return types.NewTuple(vars...)
	}
	text := l.text(types.NewSignatureType(nil, nil, nil, bare(sig.Params()), bare(sig.Results()), sig.Variadic()))
	var params []string
	for p := range sig.TypeParams().TypeParams() {
		params = append(params, p.String()+" "+l.text(p.Constraint()))
	}
	if text = strings.TrimPrefix(text, "func"); len(params) > 0 {
		text = "[" + strings.Join(params, ", ") + "]" + text
	}
	return text
}

func (l *lister) object(obj types.Object) {
	switch obj := obj.(type) {
	case *types.Const:
		l.add(fmt.Sprintf("const %s %s = %s", obj.Name(), l.text(obj.Type()), obj.Val().ExactString()), obj.Type())
	case *types.Var:
		l.add(fmt.Sprintf("var %s %s", obj.Name(), l.text(obj.Type())), obj.Type())
	case *types.Func:
		l.add("func "+obj.Name()+l.signature(obj.Type()), obj.Type())
	case *types.TypeName:
		l.typeName(obj)
	}
}

// typeName lists a type with all that can be reached through its values. It also lists a
// hidden type that an exported identifier mentions.
func (l *lister) typeName(obj *types.TypeName) {
	if l.seen[obj] {
		return
	}
	l.seen[obj] = true
	name := obj.Name()
	if obj.IsAlias() {
		typ := types.Unalias(obj.Type())
		l.add(fmt.Sprintf("type %s = %s", name, l.text(typ)), typ)
		return
	}
	named := obj.Type().(*types.Named)
	if params := named.TypeParams(); params.Len() > 0 {
		for p := range params.TypeParams() {
			l.add(fmt.Sprintf("type %s[%s %s]", name, p, l.text(p.Constraint())), p.Constraint())
		}
	}
	l.underlying(name, named.Underlying())
	l.methods(name, named)
}

func (l *lister) underlying(name string, typ types.Type) {
	switch u := typ.(type) {
	case *types.Struct:
		l.add("type "+name+" struct", types.Typ[types.Invalid])
		l.fields(name, u)
	case *types.Interface:
		l.add("type "+name+" interface", types.Typ[types.Invalid])
		for e := range u.EmbeddedTypes() {
			l.add(fmt.Sprintf("type %s interface, embeds %s", name, l.text(e)), e)
		}
		for m := range u.Methods() {
			if m.Exported() {
				l.add(fmt.Sprintf("type %s interface, %s%s", name, m.Name(), l.signature(m.Type())), m.Type())
			} else { // no other package can implement it
				l.add("type "+name+" interface, unexported methods", types.Typ[types.Invalid])
			}
		}
	default:
		l.add(fmt.Sprintf("type %s %s", name, l.text(u)), u)
	}
}

// fields lists the exported fields of a struct, and of hidden structs that are embedded in
// it.
func (l *lister) fields(name string, u *types.Struct) {
	for i := range u.NumFields() {
		f := u.Field(i)
		if f.Exported() {
			text := fmt.Sprintf("type %s struct, %s %s", name, f.Name(), l.text(f.Type()))
			if tag := u.Tag(i); tag != "" {
				text += " `" + tag + "`"
			}
			l.add(text, f.Type())
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

// methods lists the methods of a type, also of embedded types.
func (l *lister) methods(name string, named *types.Named) {
	if types.IsInterface(named) {
		return
	}
	values := types.NewMethodSet(named)
	for sel := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		fn := sel.Obj()
		if !fn.Exported() {
			continue
		}
		receiver := name
		if values.Lookup(fn.Pkg(), fn.Name()) == nil {
			receiver = "*" + name
		}
		l.add(fmt.Sprintf("method (%s) %s%s", receiver, fn.Name(), l.signature(sel.Type())), sel.Type())
	}
}
