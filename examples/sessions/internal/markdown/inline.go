package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// look is the style of text: the parameters between "\x1b[" and "m" of an escape
// sequence. The empty look is plain.
type look string

const (
	bold      look = "1"
	italic    look = "3"
	underline look = "4"
	red       look = "31"
	green     look = "32"
	yellow    look = "33"
	blue      look = "34"
	cyan      look = "36"

	heading = bold + ";" + blue
	address = underline + ";" + cyan
)

// and returns the look that combines both.
func (l look) and(more look) look {
	if l == "" {
		return more
	}
	return l + ";" + more
}

// span is text of one look. A line break in it begins a line.
type span struct {
	text string
	look look
}

// inlines returns the text inside of a node. All of it has a look, from the nodes around.
func (p page) inlines(parent ast.Node, has look) (all []span) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		all = append(all, p.inline(n, has)...)
	}
	return all
}

func (p page) inline(n ast.Node, has look) []span {
	switch n := n.(type) {
	case *ast.Text:
		written := string(util.UnescapePunctuations(n.Segment.Value(p.source)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			written = strings.TrimRight(written, " ") + "\n"
		}
		return []span{{written, has}}
	case *ast.String:
		return []span{{string(n.Value), has}}
	case *ast.RawHTML:
		return []span{{string(n.Segments.Value(p.source)), has}}
	case *ast.CodeSpan:
		return []span{{p.codeSpan(n), has.and(yellow)}}
	case *ast.AutoLink:
		return []span{{string(n.Label(p.source)), has.and(address)}}
	case *ast.Emphasis:
		return p.inlines(n, has.and([]look{italic, bold}[n.Level-1]))
	case *ast.Link:
		return p.link(p.inlines(n, has.and(bold)), n.Destination, has)
	case *ast.Image:
		return append([]span{{"Image: ", has}}, p.link(p.inlines(n, has), n.Destination, has)...)
	}
	return p.inlines(n, has)
}

// codeSpan returns code within a line. Where there is no colour, marks show it.
func (p page) codeSpan(n *ast.CodeSpan) string {
	var code strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		code.Write(c.(*ast.Text).Segment.Value(p.source))
	}
	written := strings.ReplaceAll(code.String(), "\n", " ")
	if p.Colour {
		return written
	}
	return "`" + written + "`"
}

// link returns the text of a link, and its address unless that is the text.
func (p page) link(shown []span, to []byte, has look) []span {
	var all strings.Builder
	for _, s := range shown {
		all.WriteString(s.text)
	}
	if all.String() == string(to) || len(to) == 0 {
		return shown
	}
	return append(shown, span{" ", has}, span{string(to), has.and(address)})
}
