// Package markdown shows Markdown on a terminal: headings, lists, quotes, tables and
// code as a person reads them, in lines that fit. It uses the terminal's own colours
// red to cyan, which can be read on light and on dark ground, and never black, white
// or grey. It does not ask the terminal for its ground.
//
// It draws what goldmark parses itself. Glamour, the usual library for this, brings
// a highlighter for 250 languages, whose tables each start of the program had to
// build: half of the time that a short command took.
package markdown

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
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
)

// nested begins more quotes and lists in each other than can be parsed in a moment.
var nested = regexp.MustCompile(`(?m)^[ \t]*((>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])[ \t]*){17}`)

// rendered reports whether text is parsed in a moment and there is room for it.
func rendered(text string, width int) bool {
	return len(text) <= largest && width >= narrowest && strings.Count(text, "`") <= mostTicks && !nested.MatchString(text)
}

// Render returns Markdown as lines for a terminal. The Markdown must hold nothing that a
// terminal obeys. Only the marks of Markdown are left out: tags, references of HTML and
// definitions of links are shown as written, since a reference may mean a character
// that terminals obey. The address of a link follows its text.
//
// Text that would take long is not rendered: more than 32 KiB, more than 16 quotes and
// lists begun in each other on a line, or more than 4096 marks of code. No text is
// rendered for fewer than 20 columns. Such text is broken into lines that fit, or with
// Whole is returned unchanged.
func Render(markdown string, o Options) string {
	p := page{source: []byte(markdown), Options: o}
	switch {
	case rendered(markdown, o.Width):
		return p.painted(p.blocks(parse.Parse(text.NewReader(p.source)), o.Width))
	case o.Whole:
		return markdown
	}
	return p.painted(p.wrap([]span{{text: markdown}}, max(1, o.Width)))
}

// painted returns lines as text.
func (p page) painted(lines []line) string {
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		l.paint(&out, p.Colour)
	}
	return out.String()
}

// parse parses CommonMark and tables, but not definitions of links, so that these are
// shown as text.
var parse = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 0)),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)
