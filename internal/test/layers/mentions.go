package layers

import (
	"go/types"
	"strings"
)

// mentions finds the types that a type is made of.
type mentions struct {
	pkg      *types.Package      // whose types are looked at
	typs     map[types.Type]bool // seen
	internal []string            // types of internal packages
	hidden   []*types.TypeName   // unexported types of the package itself
}

// walk looks at typ, and not into the types of other packages.
func (m *mentions) walk(typ types.Type) {
	if m.typs[typ] {
		return
	}
	m.typs[typ] = true
	switch t := typ.(type) {
	case *types.Alias:
		m.name(t.Obj())
		m.list(t.TypeArgs())
		m.walk(t.Rhs())
	case *types.Named:
		m.name(t.Obj())
		m.list(t.TypeArgs())
	case *types.Pointer:
		m.walk(t.Elem())
	case *types.Slice:
		m.walk(t.Elem())
	case *types.Array:
		m.walk(t.Elem())
	case *types.Chan:
		m.walk(t.Elem())
	case *types.Map:
		m.walk(t.Key())
		m.walk(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			m.walk(f.Type())
		}
	case *types.Tuple:
		for v := range t.Variables() {
			m.walk(v.Type())
		}
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			m.walk(p.Constraint())
		}
		m.walk(t.Params())
		m.walk(t.Results())
	case *types.Interface:
		for f := range t.ExplicitMethods() {
			m.walk(f.Type())
		}
		for e := range t.EmbeddedTypes() {
			m.walk(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			m.walk(term.Type())
		}
	}
}

func (m *mentions) list(args *types.TypeList) {
	for t := range args.Types() {
		m.walk(t)
	}
}

// name notes a type that is internal, or hidden in the package itself.
func (m *mentions) name(obj *types.TypeName) {
	switch {
	case obj.Pkg() == nil:
	case obj.Pkg() == m.pkg:
		if !obj.Exported() {
			m.hidden = append(m.hidden, obj)
		}
	case strings.HasPrefix(obj.Pkg().Path(), module+"/") && !isPublic(strings.TrimPrefix(obj.Pkg().Path(), module+"/")):
		m.internal = append(m.internal, obj.Pkg().Path()+"."+obj.Name())
	}
}
