// Package markdown shows Markdown on a terminal: headings, lists, tables and code
// as a person reads them, in lines that fit. It uses six of the terminal's own
// sixteen colours, red to cyan, which can be read on light and on dark ground, and
// never black, white or grey. It does not ask the terminal for its ground.
package markdown

import (
	"net/url"
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
)

// Render returns text, which no terminal obeys, as lines of at most width columns.
// Tags and references of HTML are shown as they stand there, since a reference may
// mean a character that terminals obey; cells of a table that is too wide are
// cut, and of a link to something else than a page only the text is shown. Without colour the answer has no
// escape sequences. What cannot be rendered is returned as it is, and so is text that
// would take long: of more than 32 KiB, or with more than 16 quotes and lists begun in
// each other on a line, and all text where there are fewer than 20 columns. In text of more than 64 blocks
// of code, those have one colour.
func Render(text string, width int, colour bool) string {
	if len(text) > largest || width < narrowest || nested.MatchString(text) {
		return text
	}
	looks := style(colour)
	if colour && blocks(text) > mostBlocks {
		looks.CodeBlock.Chroma = nil
	}
	r, err := glamour.NewTermRenderer(
		glamour.WithStyles(looks), glamour.WithWordWrap(width), glamour.WithPreservedNewLines(), glamour.WithChromaFormatter("terminal16"))
	if err != nil {
		return text
	}
	angle, ampersand, ok := unused(text)
	if !ok {
		return text
	}
	out, err := r.Render(strings.NewReplacer("<", angle, "&", ampersand).Replace(text)) // else tags are left out, and references followed
	if err != nil {
		return text
	}
	out = strings.NewReplacer(angle, "<", ampersand, "&", url.PathEscape(angle), "<", url.PathEscape(ampersand), "&").Replace(out)
	out = links.ReplaceAllString(out, "")
	if !colour {
		out = tints.ReplaceAllString(out, "")
	}
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		lines[i] = trim(line)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

const (
	largest   = 32 << 10
	narrowest = 20

	// mostBlocks are the blocks of code up to which code is highlighted. Guessing the
	// language of one that names none takes some milliseconds.
	mostBlocks = 64
)

// blocks counts the blocks of code.
func blocks(text string) (n int) {
	source := []byte(text)
	tree := goldmark.DefaultParser().Parse(gmtext.NewReader(source))
	_ = ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if kind := node.Kind(); entering && (kind == ast.KindCodeBlock || kind == ast.KindFencedCodeBlock) {
			n++
		}
		return ast.WalkContinue, nil
	})
	return n
}

var (
	// nested begin more quotes and lists in each other than can be drawn in a moment.
	nested = regexp.MustCompile(`(?m)^[ \t]*((>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])[ \t]*){17}`)
	tints  = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// links make text a link to what need not be what it says.
	links = regexp.MustCompile(`\x1b\]8;[^\x07\x1b]*(\x07|\x1b\\)`)
	// padding are the spaces that fill a line, each of which may have a colour.
	padding = regexp.MustCompile(`(\x1b\[[0-9;]*m| )+$`)
)

// trim removes the padding of a line, and ends its colour.
func trim(line string) string {
	line = padding.ReplaceAllString(line, "")
	if strings.Contains(line, "\x1b[") {
		line += "\x1b[m"
	}
	return line
}

// unused returns two characters of one column that are not in text.
func unused(text string) (a, b string, ok bool) {
	for r := '\ue000'; r < '\ue100'; r++ {
		switch {
		case strings.ContainsRune(text, r) || strings.Contains(text, url.PathEscape(string(r))):
		case a == "":
			a = string(r)
		default:
			return a, string(r), true
		}
	}
	return "", "", false
}

// The terminal's own colours.
const (
	yellow, blue, cyan = "3", "4", "6"
)

func style(colour bool) ansi.StyleConfig {
	yes, space, bar := colour, uint(0), "│ "
	ink := func(c string) *string {
		if !colour {
			return nil
		}
		return &c
	}
	heading := func(prefix string) ansi.StyleBlock {
		return ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Prefix: prefix}}
	}
	two, one := uint(2), uint(1)
	return ansi.StyleConfig{
		Document:   ansi.StyleBlock{Margin: &space},
		BlockQuote: ansi.StyleBlock{Indent: &one, IndentToken: &bar},
		List:       ansi.StyleList{LevelIndent: 2},
		Heading:    ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{BlockSuffix: "\n", Bold: &yes, Color: ink(blue)}},
		H1:         heading("# "), H2: heading("## "), H3: heading("### "),
		H4: heading("#### "), H5: heading("##### "), H6: heading("###### "),
		Strikethrough:  ansi.StylePrimitive{BlockPrefix: "~~", BlockSuffix: "~~"},
		Emph:           ansi.StylePrimitive{Italic: &yes},
		Strong:         ansi.StylePrimitive{Bold: &yes},
		HorizontalRule: ansi.StylePrimitive{Format: "\n────────\n"},
		Item:           ansi.StylePrimitive{BlockPrefix: "• "},
		Enumeration:    ansi.StylePrimitive{BlockPrefix: ". "},
		Task:           ansi.StyleTask{Ticked: "[x] ", Unticked: "[ ] "},
		Link:           ansi.StylePrimitive{Color: ink(cyan), Underline: &yes},
		LinkText:       ansi.StylePrimitive{Bold: &yes},
		Image:          ansi.StylePrimitive{Color: ink(cyan), Underline: &yes},
		ImageText:      ansi.StylePrimitive{Format: "Image: {{.text}} →"},
		Code:           ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ink(yellow), Prefix: tick(colour), Suffix: tick(colour)}},
		CodeBlock: ansi.StyleCodeBlock{
			StyleBlock: ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ink(yellow)}, Margin: &two},
			Chroma:     highlight(colour),
		},
		Table: ansi.StyleTable{},
	}
}

// tick marks code where no colour does.
func tick(colour bool) string {
	if colour {
		return ""
	}
	return "`"
}

// highlight is how the parts of code look.
func highlight(colour bool) *ansi.Chroma {
	if !colour {
		return nil
	}
	ink := func(c string) ansi.StylePrimitive { return ansi.StylePrimitive{Color: &c} }
	yes := true
	return &ansi.Chroma{ // these stand for the terminal's colours 5, 2, 6 and 3
		Comment: ansi.StylePrimitive{Italic: &yes}, // grey is the ground of some terminals
		Keyword: ink("#7f007f"), LiteralString: ink("#007f00"), NameFunction: ink("#007f7f"), LiteralNumber: ink("#7f7fe0"),
	}
}
