// Package markdown shows Markdown on a terminal: headings, lists, quotes, tables and
// code as a person reads them, in lines that fit. It uses the terminal's own colours
// red to cyan, which can be read on light and on dark ground, and never black, white
// or grey. It does not ask the terminal for its ground.
//
// Glamour draws. This package gives it a tree without the parts of Markdown that glamour
// would follow, drop or run together: references and tags of HTML, addresses of links,
// and lines in an item of a list.
package markdown

import (
	"bytes"
	"regexp"
	"strings"

	glamour "charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// Options say how text is shown.
type Options struct {
	Width  int  // the columns of a line
	Colour bool // colours and bold letters; without, the answer has no escape sequence

	// Whole keeps lines of code, and words, that are wider than Width in one piece,
	// so that they can be copied from a terminal, which breaks them itself. Else no
	// line is wider.
	Whole bool
}

// The limits of rendering.
const (
	largest   = 32 << 10
	narrowest = 20
	mostTicks = 4096
	mostPipes = 2048
)

// nested begins more quotes and lists in each other than can be parsed in a moment.
var nested = regexp.MustCompile(`(?m)^[ \t]*((>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])[ \t]*){17}`)

// rendered reports whether text is rendered in a moment and there is room for it.
func rendered(text string, width int) bool {
	return len(text) <= largest && width >= narrowest && strings.Count(text, "`") <= mostTicks && strings.Count(text, "|") <= mostPipes && !nested.MatchString(text)
}

// Render returns Markdown as lines for a terminal. The Markdown must hold nothing that a
// terminal obeys. Only the marks of Markdown are left out: tags, references of HTML and
// definitions of links are shown as written, since a reference may mean a character
// that terminals obey. The address of a link follows its text.
//
// Text that would take long is not rendered: more than 32 KiB, more than 16 quotes and
// lists begun in each other on a line, more than 4096 marks of code, or more than 2048
// bars of tables. No text is rendered for fewer than 20 columns. Such text is broken into
// lines that fit, or with Whole is returned unchanged.
func Render(markdown string, o Options) string {
	if rendered(markdown, o.Width) {
		if shown, err := draw(markdown, o); err == nil {
			return shown
		}
	}
	if o.Whole {
		return markdown
	}
	return trailing.ReplaceAllString(screen.WrapAll(markdown, max(1, o.Width)), "")
}

// ampersand is in the place of "&" while glamour draws, which follows references.
const ampersand = "\ue000"

func draw(markdown string, o Options) (string, error) {
	p := page{Options: o, source: []byte(strings.ReplaceAll(markdown, "&", ampersand) + "\n"), code: map[string]bool{}}
	tree := parse.Parse(text.NewReader(p.source))
	p.simplify(tree)
	var blocks []string
	for n := tree.FirstChild(); n != nil; n = tree.FirstChild() {
		one := ast.NewDocument()
		one.AppendChild(one, n)
		block, err := p.block(one)
		if err != nil {
			return "", err
		}
		blocks = append(blocks, block)
	}
	return strings.ReplaceAll(strings.Join(blocks, "\n\n"), ampersand, "&"), nil
}

// block draws a document of one block in lines that fit. A table with too many columns for
// that is drawn as lines of header and cell.
func (p *page) block(n ast.Node) (string, error) {
	drawn, err := p.glamour(n, 0)
	table, isTable := n.FirstChild().(*extast.Table)
	if isTable && err == nil && lipgloss.Width(drawn) > p.Width {
		if drawn, err = p.glamour(n, p.Width); strings.Count(drawn, "…") > bytes.Count(p.source, []byte("…")) {
			isTable = false
			drawn, err = p.glamour(p.pairs(table), 0)
		}
	}
	var fits bytes.Buffer
	pen := lipgloss.NewWrapWriter(&fits) // which ends colours with each line
	for line := range strings.SplitAfterSeq(drawn, "\n") {
		switch whole := isTable || p.code[words(line)]; {
		case whole && !p.Whole:
			line = ansi.Hardwrap(line, p.Width, true)
		case p.Whole && !whole:
			line = screen.Wrap(line, p.Width)
		case !whole:
			line = screen.WrapAll(line, p.Width)
		}
		_, _ = pen.Write([]byte(line))
	}
	_ = pen.Close()
	shown := trailing.ReplaceAllString(empty.ReplaceAllString(fits.String(), ""), "$1")
	return strings.Trim(shown, "\n"), err
}

// empty matches colours of no text, and trailing the space at the end of a line.
var (
	empty    = regexp.MustCompile(`(\x1b\[[1-9][0-9;]*m)+\x1b\[0?m`)
	trailing = regexp.MustCompile(`(?m) +((\x1b\[[0-9;]*m)*)$`)
)

// words returns what a line says, without its indent, quotes' bars and colours.
func words(line string) string { return strings.Trim(ansi.Strip(line), " │\n") }

// glamour draws a document: with a width of 0 in lines that are not broken.
func (p *page) glamour(n ast.Node, width int) (string, error) {
	all := glamour.NewRenderer(glamour.Options{WordWrap: width, PreserveNewLines: true, InlineTableLinks: true, Styles: style(p.Colour, p.languages), ChromaFormatter: "terminal16"})
	var out bytes.Buffer
	err := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(all, 1))).Render(&out, p.source, n)
	if !p.Colour {
		return ansi.Strip(out.String()), err
	}
	return out.String(), err
}
