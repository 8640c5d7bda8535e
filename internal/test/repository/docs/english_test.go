package docs

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// accent has the words that plain English does without: programs as persons, and pronouns
// in the place of nouns. Each of the six patterns has one line.
var accent = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`tell|tells|told|telling`,
	`what (is|are|was|were|they|it|he|she|we|this|that|has|had)|one that|ones that`,
	`who|whoever|nobody|somebody|anybody|everybody`,
	`stand|stands|stood`,
	`that of|those of`,
	`meanwhile|by now`,
}, "|") + `)\b`)

var englishWord = regexp.MustCompile(`[A-Za-z][A-Za-z'’-]*`)

// accentOf returns the number of words in the comments of a Go file, and a line for each
// place that accent matches.
func accentOf(name string, src any) (words int, hits []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return 0, nil, err
	}
	for _, comment := range file.Comments {
		text := comment.Text()
		words += len(englishWord.FindAllString(text, -1))
		for _, at := range accent.FindAllStringIndex(text, -1) {
			begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
			line, _, _ := strings.Cut(text[begin:], "\n")
			number := files.Position(comment.Pos()).Line + strings.Count(text[:begin], "\n")
			hits = append(hits, fmt.Sprintf("%s:%d: [%s] %s", name, number, text[at[0]:at[1]], line))
		}
	}
	return words, hits, nil
}

// TestAccentIsCounted counts in comments alone, by whole words.
func TestAccentIsCounted(t *testing.T) {
	t.Parallel()
	words, hits, err := accentOf("a.go", `package a

// F tells who stands there, and what is new.
func F() string { return "told" } // which one that of others is

// A wholesale standard intellect forgets nothing.
var told = 1
`)
	require.NoError(t, err)
	require.Equal(t, 9+6+6, words)
	require.Equal(t, []string{
		"a.go:3: [tells] F tells who stands there, and what is new.",
		"a.go:3: [who] F tells who stands there, and what is new.",
		"a.go:3: [stands] F tells who stands there, and what is new.",
		"a.go:3: [what is] F tells who stands there, and what is new.",
		"a.go:4: [one that] which one that of others is",
	}, hits)
}

// TestCommentsArePlainEnglish fails when more than 2 in 1,000 words of the comments are
// words of accent. It looks at all Go files but tests and test data.
func TestCommentsArePlainEnglish(t *testing.T) {
	t.Parallel()
	words, total, byFolder := 0, 0, map[string][]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		n, hits, err := accentOf(name, src)
		words, total = words+n, total+len(hits)
		byFolder[filepath.Dir(name)] = append(byFolder[filepath.Dir(name)], hits...)
		return err
	}))
	require.Positive(t, words)
	if 1000*total <= 2*words {
		return
	}
	folders := slices.SortedFunc(maps.Keys(byFolder), func(a, b string) int {
		return cmp.Or(len(byFolder[b])-len(byFolder[a]), strings.Compare(a, b))
	})
	t.Errorf("%d words of comments have %d words of accent, %.1f in 1,000: write at most 2", words, total, 1000*float64(total)/float64(words))
	for _, folder := range folders[:min(10, len(folders))] {
		t.Logf("%4d %s", len(byFolder[folder]), folder)
	}
	t.Logf("in %s:\n%s", folders[0], strings.Join(byFolder[folders[0]], "\n"))
}
