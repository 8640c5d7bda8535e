package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// public are the packages for programs outside of this repository.
var public = []string{
	"sessionstore", "slice", "slice/accept", "slice/accept/scale", "slice/conversation", "eventslog", "sessionstore/workflow", "sessionstore/agentstate", "sessionstore/turn",
	"sessionstore/checkpoint", "sessionstore/archive", "sessionstore/archive/foreign", "sessionstore/bridge", "sessionstore/bridge/acp", "sessionstore/bridge/adk", "sessionstore/bridge/anthropic", "sessionstore/bridge/genai", "sessionstore/bridge/openai", "sessionstore/projects", "sessionstore/trash", "sessionstore/verify", "hybrid", "hybrid/cosmos", "hybrid/dir", "hybrid/hybridtest", "hybrid/postgres", "hybrid/redact", "hybrid/remote", "hybrid/s3", "hybrid/telemetry",
}

// declared returns the functions of a package's files: tests or others. Those of
// a type are Type.Name; types and values have their names alone.
func declared(t *testing.T, pkg string, tests bool) map[string]*ast.FuncDecl {
	t.Helper()
	names := map[string]*ast.FuncDecl{}
	entries, err := os.ReadDir(filepath.Join(root, pkg))
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, pkg, e.Name()), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = d
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					for _, name := range specified(spec) {
						names[name] = nil
					}
				}
			}
		}
	}
	return names
}

// receiver returns the type of a method with a dot, and nothing for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// specified returns what a declaration names, and the fields of a struct.
func specified(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		names = append(names, s.Name.Name)
		if fields, ok := s.Type.(*ast.StructType); ok {
			for _, f := range fields.Fields.List {
				for _, name := range f.Names {
					names = append(names, s.Name.Name+"."+name.Name)
				}
			}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

var namedTest = regexp.MustCompile("`([a-z][\\w/]*)\\.(Test\\w+)`")

// TestGuaranteesHaveTests finds guarantees without a test and tests that are
// not there.
func TestGuaranteesHaveTests(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]*ast.FuncDecl{} // by package
	for _, p := range pages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(p.text, -1) {
			if tests[m[1]] == nil {
				tests[m[1]] = declared(t, m[1], true)
			}
			require.Contains(t, tests[m[1]], m[2], "%s names %s", p.path, m[0])
		}
	}
	for _, of := range []struct {
		page, heading string
		atLeast       int
	}{
		{"sessionstore/README.md", "\n## Guarantees\n", 10},
		{"hybrid/README.md", "\n## Guarantees\n", 5},
		{"hybrid/README.md", "\n## What leaves, what stays, who can read it\n", 10},
	} {
		heading := of.page + of.heading
		_, table, found := strings.Cut(text(t, of.page), of.heading)
		require.True(t, found, heading)
		table, _, _ = strings.Cut(table, "\n##")
		rows := regexp.MustCompile(`(?m)^\| [a-z'].*$`).FindAllString(table, -1)
		require.GreaterOrEqual(t, len(rows), of.atLeast, heading)
		for _, row := range rows {
			require.Regexp(t, namedTest, row[strings.LastIndex(row[:len(row)-1], "|"):], "its last column")
		}
	}
}

// TestNamesAreTheAPIs finds names of types, functions, methods and fields that
// the packages do not have.
func TestNamesAreTheAPIs(t *testing.T) {
	t.Parallel()
	types := map[string]bool{} // types, and all names with their type
	functions := map[string]map[string]bool{}
	for _, pkg := range public {
		short := pkg[strings.LastIndex(pkg, "/")+1:]
		functions[short] = map[string]bool{}
		for name := range declared(t, pkg, false) {
			functions[short][name], types[name] = true, true
		}
	}
	checked := 0
	for _, p := range pages(t) {
		prose := fence.ReplaceAllString(p.text, "")
		for _, m := range regexp.MustCompile("[`\\[ ]([A-Za-z]+)\\.([A-Z]\\w*)[`(,]").FindAllStringSubmatch(prose, -1) {
			of, name := m[1], m[2]
			switch pkg, isPackage := functions[of]; {
			case isPackage && strings.HasPrefix(name, "Test"):
			case isPackage:
				require.True(t, pkg[name], "%s: %s.%s", p.path, of, name)
				checked++
			case token.IsExported(of) && types[of]:
				require.True(t, types[of+"."+name], "%s: %s.%s", p.path, of, name)
				checked++
			}
		}
	}
	require.Greater(t, checked, 30)
}

// TestPackagesAreShown demands of each public package that the README, or that of the bridges,
// has it, that its files say what it is, and that it has an example with output.
func TestPackagesAreShown(t *testing.T) {
	t.Parallel()
	bridges, err := os.ReadFile(filepath.Join(root, "sessionstore", "bridge", "README.md"))
	require.NoError(t, err)
	readme := text(t, "README.md")
	for _, pkg := range public {
		row := func(folder string) string { return "| [`" + pkg + "`](" + folder + ") |" }
		beside := row(strings.TrimPrefix(pkg, "sessionstore/bridge/"))
		require.True(t, strings.Contains(readme, row(pkg)) || strings.Contains(string(bridges), beside), pkg)
		require.FileExists(t, filepath.Join(root, pkg, "doc.go"))
		shown := false
		entries, err := os.ReadDir(filepath.Join(root, pkg))
		require.NoError(t, err)
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), "_test.go") {
				raw, err := os.ReadFile(filepath.Join(root, pkg, e.Name()))
				require.NoError(t, err)
				shown = shown || regexp.MustCompile(`(?ms)^func Example.*^\t// (Unordered )?[Oo]utput:`).Match(raw)
			}
		}
		require.True(t, shown, "%s has no example with output", pkg)
	}
}

// TestPublicPackagesAreAll finds packages that are public and not in the list.
func TestPublicPackagesAreAll(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"sessionstore", "slice", "slice/conversation", "eventslog", "hybrid"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if name := d.Name(); name == "testdata" || name == "internal" || name == "remotetest" { // which tests call
				return filepath.SkipDir
			}
			sources, err := filepath.Glob(filepath.Join(path, "*.go"))
			if err != nil || len(sources) == 0 {
				return err
			}
			pkg, err := filepath.Rel(root, path)
			require.True(t, slices.Contains(public, filepath.ToSlash(pkg)), "%s is in no list", pkg)
			return err
		}))
	}
}
