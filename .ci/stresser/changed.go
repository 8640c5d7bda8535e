package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A test is a function that go test runs. Its folder leads to its package, from the
// top of the repository.
type test struct{ folder, name string }

func (t test) String() string { return t.folder + "." + t.name }

// texts are functions with their comments, by their tests.
type texts map[test]string

// changedTests returns the tests that are new or changed since the commit of args, or
// since the usual one, and that this system builds.
func changedTests(ctx context.Context, args []string) ([]test, error) {
	base, err := commonBase(ctx, args)
	if err != nil {
		return nil, err
	}
	paths, err := changedPaths(ctx, base)
	if err != nil {
		return nil, err
	}
	before, now := texts{}, texts{}
	for _, p := range paths {
		if !isTestFile(p) {
			continue
		}
		old, err := git(ctx, "show", base+":"+p) // nothing, where the file is new
		if err == nil {
			before.add(p, []byte(old))
		}
		if err := now.read(p); err != nil {
			return nil, err
		}
	}
	var changed []test
	for t, text := range now {
		if before[t] != text {
			changed = append(changed, t)
		}
	}
	more, err := testsOfData(paths)
	changed = append(changed, more...)
	slices.SortFunc(changed, func(a, b test) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(changed), err
}

// commonBase returns the commit from which HEAD went its own way.
func commonBase(ctx context.Context, args []string) (string, error) {
	base := "HEAD~1"
	if _, err := git(ctx, "rev-parse", "--verify", "--quiet", "refs/remotes/origin/main"); err == nil {
		base = "refs/remotes/origin/main"
	}
	if len(args) > 0 {
		base = args[0]
	}
	text, err := git(ctx, "merge-base", base, "HEAD")
	return strings.TrimSpace(text), err
}

// changedPaths returns the files that differ from the commit, those that git does not
// know yet too.
func changedPaths(ctx context.Context, base string) ([]string, error) {
	differ, err := git(ctx, "diff", "--name-only", "--no-renames", "-z", base)
	if err != nil {
		return nil, err
	}
	unknown, err := git(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	return strings.FieldsFunc(differ+unknown, func(r rune) bool { return r == 0 }), err
}

// isTestFile reports whether the file has tests of a package. Files below testdata are data
// of other tests.
func isTestFile(name string) bool {
	return strings.HasSuffix(name, "_test.go") && !strings.Contains("/"+name, "/testdata/")
}

// read adds the tests of a file, if it is there and this system builds it.
func (all texts) read(name string) error {
	code, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if built, err := build.Default.MatchFile(path.Split(name)); err != nil || !built {
		return err
	}
	return all.add(name, code)
}

// add adds the tests of a file that has this code.
func (all texts) add(name string, code []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, code, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && isTest(f) {
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			all[test{path.Dir(name), f.Name.Name}] = string(code[set.Position(from).Offset:set.Position(f.End()).Offset])
		}
	}
	return nil
}

// isTest reports whether go test runs the function.
func isTest(f *ast.FuncDecl) bool {
	name, in := strings.TrimPrefix(f.Name.Name, "Test"), f.Type.Params.List
	if f.Recv != nil || name == f.Name.Name || len(in) != 1 || name != "" && 'a' <= name[0] && name[0] <= 'z' {
		return false
	}
	parameter, ok := in[0].Type.(*ast.StarExpr)
	return ok && fmt.Sprint(parameter.X) == "&{testing T}"
}

// testsOfData returns the tests of which a file below testdata that changed has the
// name.
func testsOfData(paths []string) (tests []test, err error) {
	for _, p := range paths {
		folder, data, ok := strings.Cut(p, "/testdata/")
		if !ok {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			return nil, err
		}
		all := texts{}
		for _, name := range files {
			if err := all.read(name); err != nil {
				return nil, err
			}
		}
		for t := range all {
			if slices.ContainsFunc(strings.Split(data, "/"), t.names) {
				tests = append(tests, t)
			}
		}
	}
	return tests, nil
}

// names reports whether the file or the folder has the name of the test.
func (t test) names(element string) bool {
	element, _, _ = strings.Cut(element, ".")
	return strings.EqualFold(element, t.name) || strings.EqualFold("Test"+element, t.name)
}

func git(ctx context.Context, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return string(out), nil
}
