package markdown

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// plain renders without colours in lines that fit.
func plain(text string, width int) string { return Render(text, Options{Width: width}) }

func coloured(text string, width int) string {
	return Render(text, Options{Width: width, Colour: true})
}

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"paragraph", "Two words.\nAnother `x`", "Two words.\nAnother `x`"},
		{"two paragraphs", "a\n\n\n\nb", "a\n\nb"},
		{"wrapped", "one two three four five six seven", "one two three four\nfive six seven"},
		{"long word", "see /a/path/that/is/long/ok", "see\n/a/path/that/is/long\n/ok"},
		{"words of two columns", "ab 日本語日本語日本語日本語。", "ab 日本語日本語日本\n語日本語。"},
		{"hard break", "one  \ntwo\\\nthree", "one\ntwo\nthree"},
		{"escaped", `\*a\* \[b\]`, "*a* [b]"},
		{"emphasis", "*a* __b__ ***c*** 2 * 3 * 4 ~~d~~", "a b c 2 * 3 * 4\n~~d~~"},
		{"heading", "## Title\n\ntext", "## Title\n\ntext"},
		{"underlined heading", "Title\n===\ntext", "# Title\n\ntext"},
		{"list", "- one\n- two\n  - three\n  - four\n- five", "• one\n• two\n  • three\n  • four\n• five"},
		{"loose list", "- one\n\n  more\n\n- two", "• one\n\n  more\n• two"},
		{"tasks", "- [x] done\n- [ ] open", "• [x] done\n• [ ] open"},
		{"wrapped items", "- one two three four five\n10) one two three four", "• one two three four\n  five\n\n10. one two three\n    four"},
		{"numbers", "1. a\n2. b", "1. a\n2. b"},
		{"numbers from 9", "9) a\n10) b", "9. a\n10. b"},
		{"list in an item", "- one\n  - two\n\n  more\n- three", "• one\n  • two\n  more\n• three"},
		{"lines of an item", "- one\n  two\n- three  \n  four", "• one\n  two\n• three\n  four"},
		{"empty item", "-\n- a", "•\n• a"},
		{"code", "```go\nfunc f()\n\n  g()\n```", "  func f()\n\n    g()"},
		{"indented code", "a\n\n    b\n      c", "a\n\n  b\n    c"},
		{"long code", "```\n123456789 123456789 1\n```", "  123456789 12345678\n9 1"},
		{"code in a list", "- a\n  ```\n  b\n  ```\n- c", "• a\n  b\n\n• c"},
		{"code span", "a ``b ` c``\n`d\ne`", "a `b ` c`\n`d\ne`"},
		{"quote", "> said\nlazily\n>\n> > twice", "│ said\n│ lazily\n│\n│ │ twice"},
		{"break", "a\n\n***\n\nb", "a\n\n────────\n\nb"},
		{"tags", "<b>raw</b> a < b\n\n<system-reminder>x</system-reminder>", "<b>raw</b> a < b\n\n<system-reminder>x</\nsystem-reminder>"},
		{"block of HTML", "<div>\n  a\n</div>\n\n<!-- b\nc -->", "<div>\n  a\n</div>\n\n<!-- b\nc -->"},
		{"link", "[click](http://x.y)", "click http://x.y"},
		{"link to itself", "[http://x.y](http://x.y) <http://x.y>", "http://x.y\nhttp://x.y"},
		{"link to a file", "[b](a/b.go#L7 'title')", "b a/b.go#L7"},
		{"definition of a link", "[a]\n\n[a]: b", "[a]\n\n[a]: b"},
		{"image", "![alt](p.png)", "Image: alt p.png"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, plain(tt.text, narrowest))
		})
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"alignment", "| a | bb | cc |\n|---|--:|:-:|\n| 100 | 2 | 3 |\n| `x` | | 300000 |", " a   │ bb │   cc\n─────┼────┼────────\n 100 │  2 │   3\n `x` │    │ 300000"},
		{"wrapped cells", "|name|text|\n|-|-|\n|a|one two three four five|", " name │ text\n──────┼─────────────────\n a    │ one two three\n      │ four five"},
		{"long word in a cell", "|name|text|\n|-|-|\n|a|0123456789abcdefghij|", " name │ text\n──────┼─────────────────\n a    │ 0123456789abcde\n      │ fghij"},
		{"missing cell", "|a|b|\n|-|-|\n|1|", " a │ b\n───┼───\n 1 │"},
		{"escaped", "|a|\n|-|\n|b \\| `c\\|d`|", " a\n───────────\n b | `c|d`"},
		{"wide characters", "|日本|b|\n|-|-|\n|a|c|", " 日本 │ b\n──────┼───\n a    │ c"},
		{"link", "|a|\n|-|\n|[b](c/d) ![](e)|", " a\n────────────────\n b c/d Image: e"},
		{"header alone", "|a|b|\n|-|-|", " a │ b\n───┼───"},
		{
			"too many columns", "|aaaaaaa|bbbbbbb|ccccccc|d|\n|-|-|-|-|\n|1|2|3|4|\n|5|6|7|8|",
			"aaaaaaa: 1\nbbbbbbb: 2\nccccccc: 3\nd: 4\n\naaaaaaa: 5\nbbbbbbb: 6\nccccccc: 7\nd: 8",
		},
		{"too many columns in the header", "|aaaaaaa|bbbbbbb|ccccccc|d|\n|-|-|-|-|", "aaaaaaa:\nbbbbbbb:\nccccccc:\nd:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, plain(tt.text, 24))
		})
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"a `x`", "a \x1b[33mx\x1b[m"},
		{"*a **b*** c", "\x1b[3ma \x1b[m\x1b[1;3mb\x1b[m c"},
		{"# a `b`", "\x1b[34;1m# \x1b[m\x1b[34;1ma \x1b[m\x1b[33;1mb\x1b[m"},
		{"[a](b)", "\x1b[1ma\x1b[m \x1b[36;4mb\x1b[m"},
		{"```diff\n+a\n-b\n c\n```", "  \x1b[32m+a\x1b[m\n  \x1b[31m-b\x1b[m\n  \x1b[33m c\x1b[m"},
		{"|a|\n|-|\n|b|", " a\n───\n b"},
		{"**one two three four five**", "\x1b[1mone two three four\x1b[m\n\x1b[1mfive\x1b[m"},
	} {
		require.Equal(t, tt.want, coloured(tt.text, narrowest), "each line ends its colour")
	}
}

// TestCode renders code in the colours of its language, and without them where these
// would take long: a lexer may need minutes for text that was made for that.
func TestCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, "  \x1b[35mfunc\x1b[0m\x1b[33m \x1b[0m\x1b[36mf\x1b[0m\x1b[33m()\x1b[0m", coloured("```go\nfunc f()\n```", 80))
	require.Equal(t, "  \x1b[33mfunc f()\x1b[m", coloured("    func f()", 80))
	require.Equal(t, "  \x1b[33ma: 1 && b\x1b[m", coloured("```yaml\na: 1 && b\n```", 80))
	for _, language := range []string{"yaml", "c", "cpp", "java", "make", "", "none"} {
		for _, odd := range []string{"[", "\n", "-", "a ", "\"\\", "x\n"} {
			code := strings.Repeat(odd, largest/2/len(odd)) + "x"
			shown := coloured("```"+language+"\n"+code+"\n```", 80)
			require.NotRegexp(t, `\x1b\[3[124-7]m`, shown, language)
			require.Equal(t, strings.Join(strings.Fields(code), ""), strings.Join(strings.Fields(looks.ReplaceAllString(shown, "")), ""))
		}
	}
	line := "func f()\n"
	most := "```go\n" + strings.Repeat(line, mostCode/len(line)) + "```\n"
	require.Contains(t, coloured(most, 80), "\x1b[35mfunc")
	require.NotContains(t, strings.TrimPrefix(coloured(most+"\n\n"+"```go\n"+line+"```", 80), coloured(most, 80)), "\x1b[35mfunc")
}

// TestFits renders all parts of Markdown for terminals of usual widths.
func TestFits(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"# A heading that has more words than a line of forty columns", "A *paragraph* with [a link](https://example.org/a/long/path/of/an/address/that/no/narrow/line/holds) and `code`.",
		"- an item of a list with more words than a line of forty columns\n  1. and one below it, with as many words as the one above", "> quoted, and wider than a line of forty columns, as is all that is here",
		"```go\nfunc render(text string, width int) (lines []string) { return nil } // as wide as that\n```",
		"| a column | another column | a third column | the last one |\n|---|--:|:-:|---|\n| some words in a cell | 12345 | `code` | more words in a cell, and more than others |",
	}, "\n\n")
	for _, width := range []int{40, 80, 120} {
		for _, colour := range []bool{false, true} {
			shown := looks.ReplaceAllString(Render(text, Options{Width: width, Colour: colour}), "")
			widest := 0
			for line := range strings.SplitSeq(shown, "\n") {
				widest = max(widest, uniseg.StringWidth(line))
			}
			require.LessOrEqual(t, widest, width, shown)
			require.Greater(t, widest, width*3/4, shown)
			require.NotContains(t, shown, "…")
			for _, word := range []string{"heading", "narrow", "above", "│ quoted", "render(text", "12345", "others"} {
				require.Contains(t, strings.ReplaceAll(shown, "\n", ""), word, shown)
			}
		}
	}
}

// TestWhole renders what is wider than a line and is to be copied.
func TestWhole(t *testing.T) {
	t.Parallel()
	whole := Options{Width: narrowest, Whole: true}
	require.Equal(t, "see\n/a/path/that/is/long/ok\nand so", Render("see /a/path/that/is/long/ok and so", whole))
	require.Equal(t, "  123456789 123456789 1", Render("```\n123456789 123456789 1\n```", whole))
	require.Equal(t, "日本語日本語日本語日\n本語日本語", Render("日本語日本語日本語日本語日本語", whole), "words of a script without spaces are not to be seen")
}

// TestReferencesAreText renders references to characters that a terminal obeys. They
// are shown as they are written.
func TestReferencesAreText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"&#27;[31mred", "&#x1b;]0;title&#7;", "&amp;#27;c", "&amp;amp;#27;c", "a &#x202e;b", "&#13;over", "a&#8;b", "a&#8232;b&#8233;c",
		"&#65279;a", "&lrm;a", "a &zwnj;b", "&lt;b> &copy;", "?a=1&b=2",
	} {
		for _, shown := range []string{plain(text, 80), coloured(text, 80)} {
			require.Equal(t, text, shown)
		}
		require.Equal(t, "`"+text+"`", plain("`"+text+"`", 80))
		require.Equal(t, "  "+text, plain("```\n"+text+"\n```", 80))
		require.Equal(t, "# "+text, plain("# "+text, 80))
		require.Contains(t, plain("| a |\n|---|\n| "+text+" |", 80), "\n "+text)
		for _, odd := range []string{"\\" + text, "[" + text + "](http://x.y)", "[a](http://x.y/" + text + ")", "![" + text + "](http://x.y/" + text + ")", "<http://x.y/" + text + ">", "[a](http://x.y '" + text + "')"} {
			require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(plain(odd, 80), "\n", ""), func(r rune) bool {
				return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
			}), "%q", odd)
		}
	}
	require.Equal(t, "click http://x.y/?a=1&b=2", plain("[click](http://x.y/?a=1&b=2)", 80))
	require.Equal(t, "click http://x.y/a&b", plain("[click](http://x.y/a&b)", 80))
}

func TestNotRendered(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("*a* ", largest/4+1)
	require.Equal(t, large, Render(large, Options{Width: 80, Whole: true}))
	require.Equal(t, strings.TrimSpace(large), strings.ReplaceAll(plain(large, 80), "\n", " "))
	require.Equal(t, "*a*", coloured("*a*", narrowest-1))
	require.Equal(t, "*a* 1\n*b*", coloured("*a* 1 *b*", 5))
	require.Equal(t, "日\n本", plain("日本", 1), "there is no narrower way")
}

// TestDeep renders quotes and lists in each other, which have no marks from where
// they would leave no room, and are not rendered where it would take minutes.
func TestDeep(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"> ", ">", "- ", "1. ", "12) ", "+ > "} {
		shown := plain(strings.Repeat(part, 8)+"*a* b c d e f g h", narrowest)
		require.Equal(t, "abcdefgh", strings.NewReplacer("│", "", "•", "", "1.", "", "12.", "", " ", "", "\n", "").Replace(shown), part)
		for line := range strings.SplitSeq(shown, "\n") {
			require.LessOrEqual(t, uniseg.StringWidth(line), narrowest)
		}
		deep := "*a*\n\n " + strings.Repeat(part, 17) + "a"
		require.Equal(t, deep, plain(deep, 80))
	}
	ticks := "*a*" + strings.Repeat("\\```\n", mostTicks/3)
	require.Equal(t, ticks+"``", Render(ticks+"``", Options{Width: 80, Whole: true}))
	require.NotEqual(t, ticks, Render(ticks, Options{Width: 80, Whole: true}))
}

// fenceWord matches a word behind the beginning of a block of code, where the name of a
// language stands, which is not shown.
var fenceWord = regexp.MustCompile("(```|~~~)[^`\n]*w[a-z]")

var looks = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestNothingIsLost renders pieces of Markdown, but for tables, in any order: every
// word is shown, nothing but colours is left to the terminal to obey, and no line is
// wider than asked for.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"# ", "- ", "1. ", "> ", "```\n", "`", "**", "_", "[", "]", "(", ")", "](", "]: ", "\n", "\n\n", "    ", "<div>", "</a>", "<!-- ", " -->",
		"![", "http://x.y/", "&lt;", "&#27;[2J", "&amp;", "&#x202e;", "\\", "~~gone~~", "日本", "é", "🙏", "- [ ] ", "***\n", "===\n", "$", "{", ":", "\u00a0",
	}
	r := testenv.Rand(t)
	for range 4000 {
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
		shown := looks.ReplaceAllString(Render(text.String(), Options{Width: width, Colour: r.IntN(2) == 0}), "")
		require.NotContains(t, shown, "\x1b", "%q", text.String())
		require.NotContains(t, shown, "\u202e", "%q", text.String())
		joined := strings.NewReplacer("\n", "", "│", "", " ", "").Replace(shown)
		for _, word := range words {
			require.Contains(t, joined, word, "%q is shown as %q", text.String(), shown)
		}
		for line := range strings.SplitSeq(shown, "\n") {
			require.LessOrEqual(t, uniseg.StringWidth(line), width, "%q", text.String())
		}
	}
}
