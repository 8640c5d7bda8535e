package web

import (
	"bytes"
	"html"
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// maxRendered is the most bytes of Markdown that are rendered. A longer text is
// shown as it is, since some texts take time with the square of their length.
const maxRendered = 32 << 10

// shownMessage is a message with its text as HTML where a model wrote it, since
// models write Markdown.
type shownMessage struct {
	conversation.Message
	HTML  string   `json:"html,omitempty"`
	Gists []string `json:"gists,omitempty"` // a line for each of its folds, see fold
}

// shown renders the texts of messages.
func shown(all []conversation.Message) []shownMessage {
	out := make([]shownMessage, len(all))
	for i, m := range all {
		out[i].Message = m
		out[i].Gists = fold(&out[i].Message)
		if m.Role == "assistant" && m.Text != nil {
			out[i].HTML = renderMarkdown(m.Text.Text)
		}
	}
	return out
}

// renderMarkdown returns a text as HTML that is safe in a page, and "" for a text that
// is too long. HTML in the text is shown and has no effect.
func renderMarkdown(text string) string {
	if len(text) > maxRendered {
		return ""
	}
	var out bytes.Buffer
	if err := markdown().Convert([]byte(text), &out); err != nil {
		return "" // the page shows the text as it is
	}
	return sanitizer().Sanitize(out.String())
}

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(inert{}, 1))),
	)
})

// inert renders the elements that could load or run something: HTML becomes text, an
// image becomes a link to it.
type inert struct{}

func (inert) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			writeText(w, n.(*ast.RawHTML).Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.HTMLBlock)
		_, _ = w.WriteString("<pre>") // writes into memory
		writeText(w, block.Lines().Value(source))
		if block.HasClosure() {
			writeText(w, block.ClosureLine.Value(source))
		}
		_, _ = w.WriteString("</pre>\n")
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(`<a href="` + html.EscapeString(string(n.(*ast.Image).Destination)) + `">image: `)
		} else {
			_, _ = w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
}

func writeText(w util.BufWriter, text []byte) {
	_, _ = w.WriteString(html.EscapeString(string(text))) // writes into memory
}

// sanitizer lets through what Markdown needs and nothing else. Links lead to the
// web or to a mail program, never to this server.
var sanitizer = sync.OnceValue(newSanitizer)

func newSanitizer() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "pre", "code", "blockquote", "ul", "ol", "li",
		"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9+#_-]+$`)).OnElements("code")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}
