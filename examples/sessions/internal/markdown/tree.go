package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parse parses CommonMark and tables, but neither tags in a line nor definitions of
// links, so that these are shown as text.
var parse = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewEmphasisParser(), 400)),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 0)),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

// mostCode limits the code of a text that is shown in the colours of its language, and
// languages holds the languages with such colours. The expressions of some others, as
// YAML and C, take half a minute for 8 KiB of text that was made for that.
const mostCode = 8 << 10

var languages = map[string]bool{
	"bash": true, "sh": true, "shell": true, "css": true, "diff": true, "go": true, "golang": true, "html": true, "javascript": true, "js": true, "json": true, "php": true,
	"py": true, "python": true, "rs": true, "rust": true, "sql": true, "swift": true, "toml": true, "ts": true, "typescript": true, "xml": true,
}

// page is a text to draw.
type page struct {
	source []byte // the text, and behind it the texts that [page.text] adds
	Options
	code      map[string]bool // the lines of its code, as [words] returns them
	codeBytes int
	languages bool // some code has the colours of its language
}

// text returns a node with a text that need not be in the source.
func (p *page) text(s string) *ast.Text {
	from := len(p.source)
	p.source = append(p.source, s...)
	return ast.NewTextSegment(text.NewSegment(from, len(p.source)))
}

// simplify replaces the nodes that glamour would draw in another way.
func (p *page) simplify(tree ast.Node) {
	var all []ast.Node
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			all = append(all, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range all {
		switch n := n.(type) {
		case *ast.Text:
			p.lineBreak(n)
		case *ast.String:
			replace(n, p.text(string(n.Value)))
		case *ast.Link:
			bold := ast.NewEmphasis(2)
			for _, c := range children(n) {
				bold.AppendChild(bold, c)
			}
			p.link(n, n.Destination, bold)
		case *ast.Image:
			label := p.text("Image: ")
			if !n.HasChildren() {
				label = p.text("Image:")
			}
			p.link(n, n.Destination, append([]ast.Node{label}, children(n)...)...)
		case *ast.AutoLink:
			replace(n, p.address(n.Label(p.source)))
		case *ast.HTMLBlock:
			p.html(n)
		case *ast.CodeBlock:
			p.codeBlock(n, "")
		case *ast.FencedCodeBlock:
			p.codeBlock(n, string(n.Language(p.source)))
		}
	}
}

func children(n ast.Node) (all []ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		all = append(all, c)
	}
	return all
}

// replace puts other nodes in the place of one, which may be among them.
func replace(n ast.Node, by ...ast.Node) {
	parent, next := n.Parent(), n.NextSibling()
	parent.RemoveChild(parent, n)
	for _, other := range by {
		if next == nil {
			parent.AppendChild(parent, other)
		} else {
			parent.InsertBefore(parent, next, other)
		}
	}
}

// lineBreak gives the line behind a break in an item of a list the indent of the item.
func (p *page) lineBreak(n *ast.Text) {
	in := n.Parent()
	for in.Type() == ast.TypeInline {
		in = in.Parent()
	}
	item, ok := in.Parent().(*ast.ListItem)
	if !ok {
		return
	}
	indent := strings.Repeat(" ", item.Offset)
	if n.SoftLineBreak() || n.HardLineBreak() {
		n.SetSoftLineBreak(false)
		n.SetHardLineBreak(false)
		replace(n, n, p.text("\n"+indent))
	}
	if next := in.NextSibling(); n == in.LastChild() && isText(next) {
		replace(n, n, p.text("\n\n"+indent))
	}
	if before := in.PreviousSibling(); n == in.FirstChild() && before != nil && !isText(before) {
		replace(n, p.text(indent), n)
	}
}

func isText(n ast.Node) bool {
	return n != nil && (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock)
}

// link draws nodes in the place of a link, and its address behind them unless that is
// their text.
func (p *page) link(n ast.Node, to []byte, shown ...ast.Node) {
	if only, ok := shown[0].FirstChild().(*ast.Text); len(to) > 0 && !(ok && only.NextSibling() == nil && string(only.Value(p.source)) == string(to)) {
		shown = append(shown, p.text(" "), p.address(to))
	}
	replace(n, shown...)
}

// address returns an address. It is drawn as text that is struck out, which is not
// parsed, since glamour changes the addresses of links to files.
func (p *page) address(to []byte) ast.Node {
	n := extast.NewStrikethrough()
	n.AppendChild(n, p.text(string(to)))
	return n
}

// html draws HTML as it is written.
func (p *page) html(n *ast.HTMLBlock) {
	lines := n.Lines()
	if n.HasClosure() {
		lines.Append(n.ClosureLine)
	}
	in := ast.NewParagraph()
	in.AppendChild(in, p.text(strings.TrimRight(string(lines.Value(p.source)), "\n")))
	replace(n, in)
}

// codeBlock notes the lines of code, and draws it as text of no language where colours
// would take long.
func (p *page) codeBlock(n ast.Node, language string) {
	code := n.Lines().Value(p.source)
	for line := range strings.Lines(string(code)) {
		p.code[words(line)] = true
	}
	if p.codeBytes += len(code); languages[language] && p.codeBytes <= mostCode {
		p.languages = true
		return
	}
	plain := ast.NewFencedCodeBlock(p.text("plaintext"))
	plain.SetLines(n.Lines())
	replace(n, plain)
}

// pairs returns the rows of a table as lines of header and cell, and the header alone
// where there is no row.
func (p *page) pairs(table *extast.Table) ast.Node {
	var titles []string
	for _, cell := range children(table.FirstChild()) {
		titles = append(titles, string(cell.Lines().Value(p.source))+": ")
	}
	doc, rows := ast.NewDocument(), children(table)
	for _, row := range rows[min(1, len(rows)-1):] {
		pairs := ast.NewParagraph()
		for i, cell := range children(row) {
			if i > 0 {
				pairs.AppendChild(pairs, p.text("\n"))
			}
			pairs.AppendChild(pairs, p.text(titles[i]))
			for _, c := range children(cell) {
				if len(rows) > 1 {
					pairs.AppendChild(pairs, c)
				}
			}
		}
		doc.AppendChild(doc, pairs)
	}
	return doc
}
