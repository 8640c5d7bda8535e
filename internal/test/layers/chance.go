package layers

import (
	"go/ast"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// mayDraw names the files that use chance, other than by a seed that is given, with the
// reason. The chances of a test are decided by testenv.Seed.
var mayDraw = map[string]string{
	"examples/cloudsync/account.go":               "a name in an account that others use too",
	"examples/cloudsync/questions.go":             "a name in an account that others use too",
	"examples/viewer/main.go":                     "a token",
	"hybrid/dir/commit.go":                        "marks of versions, beside other devices",
	"hybrid/dir/dir.go":                           "the identity of a directory",
	"internal/disk/vfs/replace.go":                "names of temporary files, beside other processes",
	"internal/test/cosmostest/capability_test.go": "the name of a database of a server that lives on",
	"internal/test/cosmostest/foreign/servers.go": "a key, and a port, which another process may have",
	"internal/test/cosmostest/server.go":          "the name of an account, beside others of the process",
	"internal/disk/lock/poll.go":                  "pauses of processes that wait for each other",
	"hybrid/internal/jitter/jitter.go":            "pauses of devices that wait for each other",
	"internal/disk/lock/queue.go":                 "pauses of processes that wait for each other",
	"internal/disk/ownership/record.go":           "the id of an owner",
	"hybrid/internal/replica/file.go":             "the name of a table",
	"hybrid/internal/replica/stats.go":            "which file of many is looked at first",
	"internal/disk/sessiondir/trash.go":           "names of temporary directories, beside other processes",
	"internal/disk/sessiondir/new.go":             "names of temporary directories, beside other processes",
	"sessionstore/checkpoint/create.go":           "ids of sessions, as the other tools make them",
	"sessionstore/id.go":                          "ids of sessions",
	"sessionstore/trash/receipt.go":               "ids of receipts",
}

var (
	// seeded are the names of packages of random numbers that draw nothing.
	seeded   = regexp.MustCompile(`^math/rand(/v2)?\.(New|NewPCG|NewChaCha8|NewSource|NewZipf|Rand|PCG|ChaCha8|Source|Source64|Zipf)$`)
	drawing  = regexp.MustCompile(`^(math/rand(/v2)?|crypto/rand)\.`)
	anySeed  = regexp.MustCompile(`(?i)seed`)
	fromTime = regexp.MustCompile(`^(time\.Now|os\.Getpid)$`)
	seedFlag = regexp.MustCompile(`(?i)(^|\.)seed$`)
)

// chance finds uses of the global sources of random numbers, seeds made of the time or
// of the process's number, and flags that set a seed: a test is repeated by TEST_SEED
// alone.
func chance(s source) (found []string) {
	imported := importNames(s.file)
	uses := func(n ast.Node) string { return useOf(n, imported) }
	ast.Inspect(s.file, func(n ast.Node) bool {
		use := ""
		if n != nil {
			use = uses(n)
		}
		switch {
		case drawing.MatchString(use) && !seeded.MatchString(use):
			if mayDraw[s.path] == "" {
				found = append(found, s.finding(n.Pos(), "%s: tests draw by testenv.Seed; see mayDraw", use))
			}
		case isSeed(n, uses) && mentionsTime(n, uses):
			found = append(found, s.finding(n.Pos(), "a seed of the time or of the process's number: see testenv.Seed"))
			return false
		case s.isTest() && flagName(n, uses) != "" && seedFlag.MatchString(flagName(n, uses)):
			found = append(found, s.finding(n.Pos(), "-%s: TEST_SEED sets the seed", flagName(n, uses)))
		}
		return true
	})
	return found
}

// importNames returns the paths of the packages that a file imports, by the name that it
// uses.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		name := path.Base(importPath(spec))
		if name == "v2" {
			name = path.Base(path.Dir(importPath(spec)))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = importPath(spec)
	}
	return names
}

// useOf returns the name that a node uses of a package, as "os.Getpid", and "" for other
// nodes.
func useOf(n ast.Node, imported map[string]string) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); ok && imported[x.Name] != "" {
		return imported[x.Name] + "." + sel.Sel.Name
	}
	return ""
}

// isSeed reports whether a node makes a source of random numbers, or sets a variable or
// a member that is named as a seed.
func isSeed(n ast.Node, uses func(ast.Node) string) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return seeded.MatchString(uses(n.Fun))
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			if name, ok := to.(*ast.Ident); ok && anySeed.MatchString(name.Name) {
				return true
			}
		}
	case *ast.KeyValueExpr:
		name, ok := n.Key.(*ast.Ident)
		return ok && anySeed.MatchString(name.Name)
	}
	return false
}

// mentionsTime reports whether the time or the process's number is part of a node.
func mentionsTime(n ast.Node, uses func(ast.Node) string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && fromTime.MatchString(uses(n))
		return !found
	})
	return found
}

// flagName returns the name of the flag that a node defines or looks up, and "" for
// other nodes.
func flagName(n ast.Node, uses func(ast.Node) string) string {
	call, ok := n.(*ast.CallExpr)
	if !ok || !strings.HasPrefix(uses(call.Fun), "flag.") {
		return ""
	}
	for _, a := range call.Args {
		if lit, ok := a.(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(lit.Value)
			return name
		}
	}
	return ""
}
