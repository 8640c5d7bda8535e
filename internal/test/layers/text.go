package layers

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

var (
	note     = regexp.MustCompile(`\b(TODO|FIXME)\b`)
	topNames = strings.Fields("sessionstore hybrid eventslog slice internal examples testdata " +
		"go.mod go.sum README.md CONTRIBUTING.md LICENSE CHANGELOG.md")
)

// strangers returns the names that may not be at the top of the repository.
func strangers(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return strings.HasPrefix(name, ".") || slices.Contains(topNames, name)
	})
}

// postponed finds comments that put work off.
func postponed(s source) (found []string) {
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if word := note.FindString(c.Text); word != "" {
				found = append(found, s.finding(c.Pos(), "%s in a comment", word))
			}
		}
	}
	return found
}

// panics finds calls of panic in library code. A line that no data can reach
// says so in a comment that begins with "unreachable:".
func panics(s source) (found []string) {
	if s.isTest() || within(s.pkg(), "examples") {
		return nil
	}
	excused := map[int]bool{}
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "// unreachable: ") {
				excused[s.line(c.Pos())] = true
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if pos, ok := panicCall(n); ok && !excused[s.line(pos)] {
			found = append(found, s.finding(pos, "panic in library code"))
		}
		return true
	})
	return found
}

func panicCall(n ast.Node) (token.Pos, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return token.NoPos, false
	}
	name, ok := call.Fun.(*ast.Ident)
	return call.Pos(), ok && name.Name == "panic"
}
