package markdown

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"paragraph", "Two words.\nAnother `x`", "Two words.\nAnother `x`"},
		{"wrapped", "one two three four five six seven", "one two three four\nfive six seven"},
		{"heading", "## Title\n\ntext", "## Title\n\ntext"},
		{"list", "- one\n- two\n  - three", "• one\n• two\n  • three"},
		{"numbers", "1. a\n2. b", "1. a\n2. b"},
		{"code", "```go\nfunc f()\n\n  g()\n```", "  func f()\n\n    g()"},
		{"quote", "> said", "│ said"},
		{"table", "| a | b |\n|---|--:|\n| 1 | 2 |", " a        │       b\n──────────┼─────────\n 1        │       2"},
		{"tags", "<b>raw</b> a < b\n\n<system-reminder>x</system-reminder>", "<b>raw</b> a < b\n\n<system-\nreminder>x</system-\nreminder>"},
		{"link", "[click](http://x.y)", "click http://x.y"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, Render(tt.text, narrowest, false))
		})
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a \x1b[33mx\x1b[m", Render("a `x`", 40, true), "a line ends its colour")
	require.NotContains(t, Render("[click](http://x.y)", 40, true), "\x1b]8")
}

// TestReferencesAreText renders references to characters that a terminal obeys. They
// are shown as they are written.
func TestReferencesAreText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"&#27;[31mred", "&#x1b;]0;title&#7;", "&amp;#27;c", "&amp;amp;#27;c", "a &#x202e;b", "&#13;over", "a&#8;b", "a&#8232;b&#8233;c",
		"&#65279;a", "&lrm;a", "a &zwnj;b", "&lt;b> &copy;", "?a=1&b=2",
	} {
		for _, shown := range []string{Render(text, 80, false), Render(text, 80, true)} {
			require.Equal(t, text, shown)
		}
		require.Equal(t, "`"+text+"`", Render("`"+text+"`", 80, false))
		require.Equal(t, "  "+text, Render("```\n"+text+"\n```", 80, false))
		require.Equal(t, "# "+text, Render("# "+text, 80, false))
		require.Contains(t, Render("| a |\n|---|\n| "+text+" |", 80, false), " "+text)
		for _, odd := range []string{"\\" + text, "[" + text + "](http://x.y)", "[a](http://x.y/" + text + ")", "![" + text + "](http://x.y/" + text + ")", "<http://x.y/" + text + ">", "[a](http://x.y '" + text + "')"} {
			require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(Render(odd, 80, false), "\n", ""), func(r rune) bool {
				return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
			}), "%q", odd)
		}
	}
	require.Equal(t, "click http://x.y/?a=1&b=2", Render("[click](http://x.y/?a=1&b=2)", 80, false))
	require.Equal(t, "click http://x.y/a&b", Render("[click](http://x.y/a&b)", 80, false))
}

func TestNotRendered(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("*a* ", largest/4+1)
	require.Equal(t, large, Render(large, 80, true))
	require.Equal(t, "*a*", Render("*a*", narrowest-1, true))
	for _, part := range []string{"> ", ">", "- ", "1. ", "12) ", "+ > "} {
		deep := "*a*\n\n " + strings.Repeat(part, 17) + "a"
		require.Equal(t, deep, Render(deep, 80, true), "it would take minutes with ten times as many")
		require.NotEqual(t, deep, Render("*a*\n\n "+strings.Repeat(part, 8)+"a", 80, true))
	}
	all := ""
	for r := '\ue000'; r < '\ue100'; r++ {
		all += string(r)
	}
	require.Equal(t, "*a*"+all, Render("*a*"+all, 80, true))
}

// TestManyCodeBlocks has more blocks of code than are highlighted. Where no known language
// is named, the highlighter tries all that it knows on each block, which takes seconds
// for some thousand.
func TestManyCodeBlocks(t *testing.T) {
	t.Parallel()
	const keyword = "\x1b[35mfunc"
	for _, fence := range []string{"```", "~~~", "- ```", "1. ```", "> ```"} {
		begin := strings.Repeat(fence+"\n\n", 4*mostBlocks) + "\n\ntext\n\n"
		require.Greater(t, blocks(begin), mostBlocks, fence)
		require.NotContains(t, Render("```go\nfunc f()\n```\n\n"+begin, 80, true), keyword, fence)
	}
	one := "```go\nfunc f()\n```\n\n"
	require.Equal(t, mostBlocks, blocks(strings.Repeat(one, mostBlocks)))
	require.Contains(t, Render(strings.Repeat(one, mostBlocks), 80, true), keyword)
	require.NotContains(t, Render(strings.Repeat(one, mostBlocks+1), 80, true), keyword)
	require.Equal(t, 2, blocks("    a\n\ntext\n\n\tb\n\n`c`"))
}

// fenceWord matches a word behind the beginning of a block of code, where the name of a
// language stands, which is not shown.
var fenceWord = regexp.MustCompile("```[^`\n]*w[a-z]")

// TestNothingIsLost renders pieces of Markdown, but for tables and links, in any order: every
// word is shown, and nothing but colours is left to the terminal to obey.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"# ", "- ", "1. ", "> ", "```\n", "`", "**", "_", "[", ")", "\n", "\n\n", "    ", "<div>", "</a>", "<!-- ", " -->",
		"![", "http://x.y/", "&lt;", "&#27;[2J", "&amp;", "&#x202e;", "\\", "~~gone~~", "日本", "é", "🙏", "- [ ] ", "***\n", "===\n", "$", "{", ":", "\u00a0",
	}
	r := testenv.Rand(t)
	for range 2000 {
		var text strings.Builder
		var words []string
		for i := range 1 + r.IntN(20) {
			text.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(2) == 0 {
				words = append(words, "w"+string(rune('a'+i)))
				text.WriteString(words[len(words)-1])
			}
		}
		if fenceWord.MatchString(text.String()) {
			continue
		}
		width := narrowest + r.IntN(80)
		shown := Render(text.String(), width, r.IntN(2) == 0)
		plain := tints.ReplaceAllString(shown, "")
		require.NotContains(t, plain, "\x1b", "%q", text.String())
		require.NotContains(t, plain, "\u202e", "%q", text.String())
		joined := strings.NewReplacer("\n", "", "│", "", " ", "").Replace(plain)
		for _, word := range words {
			require.Contains(t, joined, word, "%q is shown as %q", text.String(), plain)
		}
		for line := range strings.Lines(plain) {
			require.LessOrEqual(t, uniseg.StringWidth(strings.TrimSuffix(line, "\n")), width+40, "%q", text.String())
		}
	}
}
