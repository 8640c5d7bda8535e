package layers

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
)

// system matches the front of names of system calls' packages.
const system = `(syscall|golang\.org/x/sys/(unix|windows))\.`

var (
	renaming = regexp.MustCompile(`^(os\.|\(\*os\.Root\)\.)Rename$|^` + system + `(Rename|MoveFile|ReplaceFile)`)
	changing = regexp.MustCompile(`^(os\.|\(\*os\.(Root|File)\)\.)` +
		`(Create|CreateTemp|OpenFile|WriteFile|Mkdir|MkdirAll|MkdirTemp|Link|Symlink|Remove|RemoveAll|Truncate|` +
		`Chmod|Chown|Lchown|Chtimes|CopyFS)$|^` + system +
		`(Open$|Openat|Creat|Mkdir|Mknod|Link|Symlink|Unlink|Rmdir|Remove|Delete|Truncate|Ftruncate|Fallocate|` +
		`Fchmod|Chmod|Fchown|Chown|Lchown|Futimes|Utime)`)
	changers = []string{
		"internal/disk/sessiondir", "internal/disk/vfs", "internal/disk/lock", "internal/disk/ownership", "internal/test/crashsim", "internal/test/testenv", "examples",
		"internal/test/cosmostest/foreign", "internal/test/writertest", "internal/test/powercut",
	}
	// renamers rename: the first for the library, the others as foreign tools do, or bare
	// to be measured beside the library.
	renamers = []string{"internal/disk/vfs", "internal/test/writertest", "internal/test/powercut/workload", "examples/bench"}
)

// A reference is the use of a function, named as [types.Func.FullName] does.
type reference struct {
	pkg, at, name string
}

// misplaced finds uses of functions that change files outside of the packages
// that do so.
func misplaced(refs []reference) (found []string) {
	for _, r := range refs {
		inside := func(folder string) bool { return within(r.pkg, folder) }
		switch {
		case renaming.MatchString(r.name) && !slices.ContainsFunc(renamers, inside):
			found = append(found, r.at+": only internal/disk/vfs uses "+r.name)
		case changing.MatchString(r.name) && !slices.ContainsFunc(changers, inside):
			found = append(found, r.at+": "+r.pkg+" may not use "+r.name)
		}
	}
	return found
}

// qualified returns the uses of package.Name in a file that is no test,
// whatever platform it is for. It does not see methods.
func qualified(s source) (refs []reference) {
	if s.isTest() {
		return nil
	}
	imported := importNames(s.file)
	ast.Inspect(s.file, func(n ast.Node) bool {
		if use := useOf(n, imported); use != "" {
			at := fmt.Sprintf("%s:%d", s.path, s.line(n.Pos()))
			refs = append(refs, reference{s.pkg(), at, use})
		}
		return true
	})
	return refs
}
