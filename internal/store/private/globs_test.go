package private

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestGlobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, name string
		fits       bool
	}{
		{"*draft*", "draft of docs/letter.md", true},
		{"*draft*", "review src/main.go, draft", true},
		{"*draft*", "a/b/c/draft/d/e", true},
		{"*draft*", "Draft", false},
		{"draft", "draft/", false},
		{"*", "/", true},
		{"*.md", "docs/a/b.md", true},
		{"a?c", "a/c", true},
		{"a??c", "a/c", false},
		{"a/*", "a/b/c", true},
		{"a[/]c", "a/c", true},
		{"a[!-~]c", "a/c", true},
		{"a[^b]c", "a/c", true},
		{`a\/c`, "a/c", true},
		{`\*`, "*", true},
		{`\*`, "/", false},
		{"[a-c]*/[^x]", "b/c/d", true},
		{"[a-c]*/[^x]", "b/c/x", false},
		{"?", "ü", true},
		{"[ä-ü]*", "ö/x", true},
		{"*a*a*a*a*a*a*b", strings.Repeat("a/", 5000), false},
		{"*a*a*a*a*a*a*b", strings.Repeat("a/", 5000) + "b", true},
	} {
		fits, err := MatchGlob(c.glob, c.name)
		require.NoError(t, err, c.glob)
		require.Equal(t, c.fits, fits, "%q on %.40q", c.glob, c.name)
	}
	for _, malformed := range []string{"[", "a[", "*[a", `a\`, "[]", "[]a]", "[^]", "[-a]", "[a-]", "x*[", "a/[b"} {
		for _, name := range []string{"", "a", "x/y", "a/b"} {
			_, err := MatchGlob(malformed, name)
			require.ErrorIs(t, err, path.ErrBadPattern, "%q on %q", malformed, name)
		}
	}
}

// TestGlobsThatLookRight: what a person writes for a glob of another tool, and keeps nothing
// here, is refused.
func TestGlobsThatLookRight(t *testing.T) {
	t.Parallel()
	for _, glob := range []string{
		"", " ", ` *secret* `, "*secret*\n", "\t*", "*\u00a0", `C:\Users\*`, `\a`, `[\d]*`, `\\\d`, `\é*`, "[!a]*", "x[!a-c]", "[[:alpha:]]*", "{a,b}*", "x{1..3}", "a}", "a*|b*", "@(a|b)*", "[", `a\`,
	} {
		require.Error(t, CheckGlob(glob), "%q", glob)
	}
	for _, glob := range []string{"*draft*", `\*\?\[\\\{x\}\|`, "[^a]*", "[{}|]*", "[ ]*secret*[ ]", "tax ????/??", `C:\\Users\\*`, "[a-c]*/[^x]", "ü", "*é*", `[\!a]`, "a{b"[:1]} {
		require.NoError(t, CheckGlob(glob), "%q", glob)
	}
}

// TestGlobsFitEitherForm: names and globs may write an accent as one character or as two.
func TestGlobsFitEitherForm(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"café", "がぎ", "한글", "Việt", "Ångström"} {
		two := decomposed[one]
		for _, pair := range [][2]string{{one, two}, {two, one}, {one, one}, {two, two}} {
			require.True(t, fitsNormal("*"+pair[0]+"*", "a "+pair[1]+" b"), "%+q", pair)
			require.True(t, fitsNormal(pair[0]+"?", pair[1]+"s"), "%+q", pair)
		}
	}
	require.True(t, fitsNormal("caf?", decomposed["café"]))
	require.False(t, fitsNormal("cafe", decomposed["café"]))
}

var decomposed = map[string]string{
	"café": "cafe\u0301", "がぎ": "か\u3099き\u3099", "한글": "\u1112\u1161\u11ab\u1100\u1173\u11af", "Việt": "Vie\u0323\u0302t", "Ångström": "A\u030angstro\u0308m",
}

// TestGlobsAreThoseOfPath compares globs with those of package path, on names without a
// slash, and then on the same names with slashes in the place of a digit beside it.
func TestGlobsAreThoseOfPath(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 1))
	text := func(parts ...string) string {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return b.String()
	}
	fitting := 0
	for range 50_000 {
		glob := text("a", "b", "ü", "*", "*", "?", "[a-b]", "[^b]", "[", "]", "^", "-", `\`, "\xff", "[aü]")
		name := text("a", "b", "0", "ü", "€", "\xff", "]", "^")
		want, malformed := path.Match(glob, name)
		got, err := MatchGlob(glob, name)
		require.Equal(t, malformed, err, "%q on %q", glob, name)
		require.Equal(t, want, got, "%q on %q", glob, name)
		slashed := strings.NewReplacer("0", "/")
		got, err = MatchGlob(glob, slashed.Replace(name))
		require.Equal(t, malformed, err)
		require.Equal(t, want, got, fmt.Sprintf("%q on %q", glob, slashed.Replace(name)))
		if want {
			fitting++
		}
	}
	require.Greater(t, fitting, 1000)
}
