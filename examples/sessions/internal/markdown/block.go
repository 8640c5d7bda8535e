package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// page is a text to draw.
type page struct {
	source []byte
	Options
}

// blocks draws the blocks inside of parent, with an empty line between each two, unless
// parent belongs to a list without empty lines.
func (p page) blocks(parent ast.Node, width int) (all []line) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		drawn := p.block(n, width)
		if len(all) > 0 && len(drawn) > 0 && !tight(parent) {
			all = append(all, nil)
		}
		all = append(all, drawn...)
	}
	return all
}

func tight(n ast.Node) bool {
	if n.Kind() == ast.KindListItem {
		n = n.Parent()
	}
	list, ok := n.(*ast.List)
	return ok && list.IsTight
}

// block draws one block.
func (p page) block(n ast.Node, width int) []line {
	switch n := n.(type) {
	case *ast.Heading:
		marks := span{strings.Repeat("#", n.Level) + " ", heading}
		return p.wrap(append([]span{marks}, p.inlines(n, heading)...), width)
	case *ast.ThematicBreak:
		return p.wrap([]span{{text: "────────"}}, width)
	case *ast.CodeBlock:
		return p.code(n.Lines(), "", width)
	case *ast.FencedCodeBlock:
		return p.code(n.Lines(), string(n.Language(p.source)), width)
	case *ast.HTMLBlock:
		return p.html(n, width)
	case *ast.Blockquote:
		return p.inset(n, width, "│ ", "│ ")
	case *ast.List:
		return p.list(n, width)
	case *extast.Table:
		return p.table(n, width)
	}
	return p.wrap(p.inlines(n, ""), width) // a paragraph
}

// inset draws the blocks inside of n behind marks: first begins the first line, others
// begins the rest. Where marks would leave little room, it draws none.
func (p page) inset(n ast.Node, width int, first, others string) []line {
	mark := clusters(span{text: first})
	if width-mark.columns() < narrowest/2 {
		return p.blocks(n, width)
	}
	inner := p.blocks(n, width-mark.columns())
	if len(inner) == 0 {
		inner = []line{nil}
	}
	for i, l := range inner {
		inner[i] = append(append(line{}, mark...), l...)
		mark = clusters(span{text: others})
	}
	return inner
}

func (p page) list(n *ast.List, width int) (all []line) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		if len(all) > 0 && !n.IsTight {
			all = append(all, nil)
		}
		all = append(all, p.inset(item, width, mark, strings.Repeat(" ", clusters(span{text: mark}).columns()))...)
	}
	return all
}

// code draws lines of code in a language.
func (p page) code(lines *text.Segments, language string, width int) (all []line) {
	for i := range lines.Len() {
		at := lines.At(i)
		row := strings.TrimRight(string(at.Value(p.source)), "\n")
		all = append(all, p.codeLine(span{"  " + row, codeLook(language, row)}, width)...)
	}
	return all
}

func (p page) codeLine(row span, width int) []line {
	if p.Whole {
		return []line{clusters(row)}
	}
	return p.wrap([]span{row}, width)
}

// codeLook returns the look of a line of code. A diff shows added and removed lines.
func codeLook(language, row string) look {
	switch {
	case language == "diff" && strings.HasPrefix(row, "+"):
		return green
	case language == "diff" && strings.HasPrefix(row, "-"):
		return red
	}
	return yellow
}

// html draws HTML as it is written.
func (p page) html(n *ast.HTMLBlock, width int) []line {
	written := n.Lines().Value(p.source)
	if n.HasClosure() {
		written = append(written, n.ClosureLine.Value(p.source)...)
	}
	return p.wrap([]span{{text: strings.TrimRight(string(written), "\n")}}, width)
}
