package export

import (
	"bufio"
	_ "embed"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/examples/viewer/conversation"
)

//go:embed page.html
var page string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"clean": clean,
	"who":   who,
	"when":  when,
	"class": class,
	"size":  words,
}).Parse(page))

// heading is what the list of turns shows of one.
type heading struct {
	Turn int
	Text string
}

// HTML writes the document as one page that needs nothing else: no script and
// nothing loaded from anywhere.
func (d *Document) HTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	var turns []heading
	for m := range d.messages() {
		if m.Starts {
			turns = append(turns, heading{m.Turn, first(m)})
		}
	}
	err := pages.ExecuteTemplate(out, "head", struct {
		*Document
		Headings []heading
	}{d, turns})
	for m := range d.messages() {
		if err == nil {
			err = pages.ExecuteTemplate(out, "message", m)
		}
	}
	if err == nil {
		err = pages.ExecuteTemplate(out, "foot", nil)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// first returns the beginning of what a message says, in a line.
func first(m conversation.Message) string {
	if m.Text == nil {
		return ""
	}
	const most = 80
	text := m.Text.Text
	if len(text) > 16*most {
		text = strings.ToValidUTF8(text[:16*most], "")
	}
	text = strings.Join(strings.Fields(clean(text)), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return text
}

// class names the look of a message.
func class(m conversation.Message) string {
	switch {
	case m.Injected:
		return "reminder"
	case m.Role == "user", m.Role == "assistant", m.Role == "tool":
		return m.Role
	}
	return "other"
}
