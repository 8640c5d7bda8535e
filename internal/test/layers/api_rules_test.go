package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// madeUp imports made-up packages and nothing else.
type madeUp map[string]*types.Package

func (m madeUp) Import(path string) (*types.Package, error) {
	if pkg := m[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

func (m madeUp) add(t *testing.T, path, code string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path+"/a.go", code, 0)
	require.NoError(t, err)
	conf := types.Config{Importer: m}
	pkg, err := conf.Check(path, fset, []*ast.File{file}, nil)
	require.NoError(t, err)
	m[path] = pkg
	return pkg
}

// TestMentions gives the rule exported identifiers by which a caller gets at a
// type of an internal package, and some that merely use one.
func TestMentions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, code string
		bad        bool
	}{
		{"parameter", "func F(*seam.Seam) {}", true},
		{"result", "func F() (int, seam.Seam) { panic(0) }", true},
		{"callback", "func F(func(seam.Seam)) {}", true},
		{"variadic", "func F(...seam.Seam) {}", true},
		{"constraint", "func F[T seam.Doer](T) {}", true},
		{"union", "func F[T ~string | seam.Kind](T) {}", true},
		{"variable", "var V map[string][]seam.Seam", true},
		{"constant", "const C = seam.First", true},
		{"field", "type T struct{ F [2]chan seam.Seam }", true},
		{"embedded", "type T struct{ seam.Seam }", true},
		{"alias", "type T = seam.Seam", true},
		{"alias of an alias", "type a = seam.Seam; type T = *a", true},
		{"underlying", "type T map[seam.Kind]int", true},
		{"method", "type T struct{}; func (T) M(seam.Kind) {}", true},
		{"method of a pointer", "type T struct{}; func (*T) M() *seam.Seam { return nil }", true},
		{"interface", "type T interface{ M() seam.Kind }", true},
		{"embedded interface", "type T interface{ seam.Doer }", true},
		{"argument of a generic type", "type G[X any] struct{}; func F() G[seam.Kind] { panic(0) }", true},
		{"parameter of a generic type", "type G[X seam.Doer] struct{}", true},
		{"method of a hidden type", "type t struct{}; func (t) M(seam.Kind) {}; func F() t { panic(0) }", true},
		{"field of a hidden type", "type t struct{ F seam.Kind }; var V t", true},
		{"field of a hidden embedded type", "type t struct{ F seam.Kind }; type T struct{ t }", true},
		{"method of a hidden embedded type", "type t struct{}; func (t) M(seam.Kind) {}; type T struct{ *t }", true},
		{"a literal type", "var V struct{ F interface{ M(seam.Kind) } }", true},

		{"hidden function", "func f(seam.Seam) {}", false},
		{"hidden field", "type T struct{ f seam.Seam }", false},
		{"hidden method", "type T struct{}; func (T) m(seam.Seam) {}", false},
		{"hidden type", "type t struct{ F seam.Seam }", false},
		{"inside of a function", "func F() { var s seam.Seam; _ = s }", false},
		{"a public package's type", "func F(other.T) other.T { panic(0) }", false},
		{"a type that refers to itself", "type T struct{ Next *T; All []T }", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			imports := madeUp{}
			imports.add(t, module+"/internal/disk/seam", "package seam; type Seam struct{ S int }; type Kind int; const First Kind = 0; type Doer interface{ Do() }")
			imports.add(t, module+"/other", `package other; import "`+module+`/internal/disk/seam"; type T struct{ F seam.Kind }`)
			pkg := imports.add(t, module+"/slice", `package slice; import ("`+module+`/internal/disk/seam"; "`+module+`/other"); var _ seam.Seam; var _ other.T; `+tt.code)
			got := faceOf("slice", pkg)
			require.Equal(t, tt.bad, len(got.internal) > 0, "%q\n%s", got.internal, strings.Join(got.lines, "\n"))
		})
	}
}

// TestFace shows what is listed of a package.
func TestFace(t *testing.T) {
	t.Parallel()
	pkg := madeUp{}.add(t, module+"/slice", `package slice
type Turn struct { Start int `+"`json:\"start\"`"+`; end int }
func (t *Turn) Len(first, second int) (n int, err error) { return 0, nil }
func (t Turn) hidden() {}
type inner struct { Rows []Turn }
type Outer struct { inner; Turn }
type Doer interface { Do(func(Turn) error); do() }
type Either interface { ~int | ~string }
type Set[K comparable] map[K]bool
type Kind string
const Last Kind = "last"
var Err error
func Map[A, B any](list []A, do func(A) B, more ...int) []B { return nil }
type Same = Turn
func lower() {}
`)
	require.Equal(t, strings.Split(strings.TrimSpace(`
pkg slice, const Last Kind = "last"
pkg slice, func Map[A any, B any]([]A, func(A) B, ...int) []B
pkg slice, method (*Outer) Len(int, int) (int, error)
pkg slice, method (*Turn) Len(int, int) (int, error)
pkg slice, type Doer interface
pkg slice, type Doer interface, Do(func(Turn) error)
pkg slice, type Doer interface, unexported methods
pkg slice, type Either interface
pkg slice, type Either interface, embeds ~int | ~string
pkg slice, type Kind string
pkg slice, type Outer struct
pkg slice, type Outer struct, Rows []Turn
pkg slice, type Outer struct, Turn Turn
pkg slice, type Same = Turn
pkg slice, type Set map[K]bool
pkg slice, type Set[K comparable]
pkg slice, type Turn struct
pkg slice, type Turn struct, Start int `+"`json:\"start\"`"+`
pkg slice, var Err error
`), "\n"), faceOf("slice", pkg).lines)
}
