package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// top leads from the folder of this package to the top of the repository.
const top = "../.."

// neither are the tests that no half runs, each with the reason.
var neither = map[string]string{
	"internal/disk/ownership.TestUnsupported": "it is of Windows, and part windows does not have the package",
}

// A function is a test or a fuzz target.
type function struct {
	folder, file, name string
	calls              map[string]bool // what it uses of package testenv, or what it calls does
}

func (f function) String() string { return f.folder + "." + f.name }

// TestHalves requires that the gate or the soak runs each test of the tree. The gate
// runs what builds on this system, but for what it leaves to the soak. Part long runs
// all that builds on this system, and the other systems run what their lists name.
func TestHalves(t *testing.T) {
	gate, soak, missing := 0, 0, map[string]string{}
	programs := text(t, ".ci/run") + strings.Join(partNamed("long").commands, "\n")
	for _, f := range functions(t) {
		named := !strings.HasPrefix(f.folder, ".") || strings.Contains(programs, "./"+f.folder)
		switch here := f.builds(t, "linux", "amd64"); {
		case here && named && !f.uses("Soak", "Strace", "Flaky", "Delayed", "Attach"):
			gate++
		case here && named, f.on386(t), f.onWindows(t):
			soak++
		default:
			missing[f.String()] = f.file
		}
	}
	t.Logf("the gate runs %d functions, the soak alone %d", gate, soak)
	require.Greater(t, gate, 1000)
	require.Greater(t, soak, 10)
	for name := range neither {
		require.Contains(t, missing, name, "it is run: take it from the list")
		delete(missing, name)
	}
	require.Empty(t, missing, "nobody runs them")
}

// TestFuzzTargets requires that .ci/fuzz has all fuzz targets.
func TestFuzzTargets(t *testing.T) {
	list, n := text(t, ".ci/fuzz"), 0
	for _, f := range functions(t) {
		if strings.HasPrefix(f.name, "Fuzz") {
			require.Contains(t, list, "\t"+f.folder+"/"+f.name+"\n")
			n++
		}
	}
	require.Greater(t, n, 30)
}

// TestPatterns requires that each pattern of a part names tests, and that the parts
// strace and kills have all tests that use strace or kill children.
func TestPatterns(t *testing.T) {
	all := functions(t)
	pattern := regexp.MustCompile(`-run='([^']*)'`)
	for _, p := range parts {
		for _, c := range p.commands {
			for _, found := range pattern.FindAllStringSubmatch(c, -1) {
				matches := regexp.MustCompile(found[1])
				require.True(t, slices.ContainsFunc(all, func(f function) bool { return matches.MatchString(f.name) }), c)
			}
		}
	}
	for name, uses := range map[string][]string{"strace": {"Strace", "Delayed", "Attach"}, "kills": {"KillRounds", "Victim"}} {
		matches := regexp.MustCompile(pattern.FindStringSubmatch(partNamed(name).commands[0])[1] + "|" + straced) // strace repeats some of the others
		for _, f := range all {
			assert.True(t, !f.uses(uses...) || matches.MatchString(f.name) || f.folder == "internal/test/testenv", "part %s lacks %s", name, f)
		}
	}
}

// TestFlags requires that each flag which a part sets is one of go test or of a test.
func TestFlags(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`flag\.\w+\("([\w.]+)"`)
	for _, f := range functions(t) {
		for _, found := range declaration.FindAllStringSubmatch(text(t, path.Join(f.folder, f.file)), -1) {
			declared[found[1]] = true
		}
	}
	own := regexp.MustCompile(` -(seeds|steps|weights|chaos\.seeds|states|fs)=`)
	n := 0
	for _, p := range parts {
		for _, found := range own.FindAllStringSubmatch(strings.Join(p.commands, " "), -1) {
			require.True(t, declared[found[1]], "no test has the flag -%s of part %s", found[1], p.name)
			n++
		}
	}
	require.GreaterOrEqual(t, n, 6)
}

func partNamed(name string) part {
	p, err := named([]string{name})
	if err != nil {
		panic(err)
	}
	return p[0]
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(data)
}

func (f function) uses(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.calls[name] })
}

func (f function) builds(t *testing.T, system, processor string) bool {
	t.Helper()
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = system, processor, system == "linux" && processor == "amd64"
	yes, err := c.MatchFile(filepath.Join(top, f.folder), f.file)
	require.NoError(t, err)
	return yes
}

// on386 reports whether part 386 runs it: it runs the module at the top, and the importers.
func (f function) on386(t *testing.T) bool {
	t.Helper()
	for folder := f.folder; folder != "." && folder != foreign; folder = path.Dir(folder) {
		if _, err := os.Stat(filepath.Join(top, folder, "go.mod")); err == nil {
			return false
		}
	}
	return !strings.HasPrefix(f.folder, ".") && f.builds(t, "linux", "386")
}

// onWindows reports whether part windows runs it.
func (f function) onWindows(t *testing.T) bool {
	t.Helper()
	in := "\n" + text(t, ".ci/systems/packages")
	return f.builds(t, "windows", "amd64") && strings.Contains(in, "\n"+f.folder+"\n") &&
		f.listed(t, "windows.only", true) && !f.listed(t, "wine.skip", false) && !f.listed(t, "simulated.skip", false)
}

// listed reports whether a file of .ci/systems names the test; if it names none of the
// package, it is as none says.
func (f function) listed(t *testing.T, name string, none bool) bool {
	t.Helper()
	listed, others := false, none
	for lines := bufio.NewScanner(strings.NewReader(text(t, ".ci/systems/"+name))); lines.Scan(); {
		folder, rest, _ := strings.Cut(lines.Text(), " ")
		if folder == f.folder || folder == "*" {
			pattern, _, _ := strings.Cut(rest, " ")
			listed, others = listed || regexp.MustCompile(pattern).MatchString(f.name), false
		}
	}
	return listed || others
}

// functions returns all tests and fuzz targets of the tree, of nested modules too.
func functions(t *testing.T) (all []function) {
	t.Helper()
	folders := map[string]bool{}
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, "_test.go") {
			folders[filepath.Dir(name)] = true
		}
		return err
	})
	require.NoError(t, err)
	for folder := range folders {
		all = append(all, functionsIn(t, folder)...)
	}
	require.Greater(t, len(all), 1000)
	return all
}

// functionsIn returns those of one package. What a function or a type uses is also
// used by what mentions it.
func functionsIn(t *testing.T, folder string) (all []function) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	place, err := filepath.Rel(top, folder)
	require.NoError(t, err)
	calls := map[string]map[string]bool{} // by the name of the function or the type
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			key := f.Name.Name
			if f.Recv != nil {
				key = receiver(f)
			}
			if calls[key] == nil {
				calls[key] = map[string]bool{}
			}
			note(calls[key], f)
			if f.Recv == nil && isTest(f) {
				all = append(all, function{filepath.ToSlash(place), filepath.Base(name), f.Name.Name, nil})
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, called := range calls {
			for name := range called {
				for more := range calls[name] {
					if strings.HasPrefix(more, "testenv.") && !called[more] {
						called[more], changed = true, true
					}
				}
			}
		}
	}
	for i, f := range all {
		all[i].calls = map[string]bool{}
		for name := range calls[f.name] {
			all[i].calls[strings.TrimPrefix(name, "testenv.")] = true
		}
	}
	return all
}

// receiver returns the name of the type that has the method.
func receiver(f *ast.FuncDecl) (name string) {
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

// note notes the names that a function uses: of functions, of types with all of their
// methods, and with their package those of testenv.
func note(calls map[string]bool, f *ast.FuncDecl) {
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "testenv" {
				calls["testenv."+n.Sel.Name] = true
			} else {
				ast.Inspect(n.X, visit)
			}
			return false
		case *ast.Ident:
			calls[n.Name] = true
		}
		return true
	}
	ast.Inspect(f.Type, visit)
	if f.Body != nil { // it stands elsewhere
		ast.Inspect(f.Body, visit)
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz)([^a-z]|$)`)

// isTest reports whether go test runs the function as a test or a fuzz target.
func isTest(f *ast.FuncDecl) bool {
	in := f.Type.Params.List
	if !testName.MatchString(f.Name.Name) || len(in) != 1 {
		return false
	}
	parameter, ok := in[0].Type.(*ast.StarExpr)
	return ok && slices.Contains([]string{"&{testing T}", "&{testing F}"}, fmt.Sprint(parameter.X))
}
