package archive

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

//go:embed page.html
var page string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"clean":    clean,
	"author":   author,
	"timeText": timeText,
	"message":  workflowMessage,
	"title":    phaseTitle,
	"parts":    phaseParts,
	"class":    class,
	"image":    imageURL,
	"size":     limits.Bytes,
}).Parse(page))

// heading is a turn as the list of turns shows it.
type heading struct {
	Turn int
	Text string
}

// html writes the document as one page that needs nothing else: no script and
// nothing loaded from anywhere.
func (d *document) html(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	var turns []heading
	for m := range d.messages(ctx) {
		if m.Starts {
			turns = append(turns, heading{m.Turn, firstLine(m)})
		}
	}
	err := pages.ExecuteTemplate(out, "head", struct {
		*document
		Headings []heading
	}{d, turns})
	for m := range d.messages(ctx) {
		if err == nil {
			err = pages.ExecuteTemplate(out, "message", m)
		}
	}
	if err == nil {
		err = d.work.html(ctx, out)
	}
	if err == nil {
		err = pages.ExecuteTemplate(out, "foot", nil)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// html writes the phases, and the messages about the workflow.
func (w *work) html(ctx context.Context, out io.Writer) (err error) {
	if len(w.ids) > 0 {
		err = pages.ExecuteTemplate(out, "phases", nil)
		for p := range w.phases(ctx) {
			if err == nil {
				err = pages.ExecuteTemplate(out, "phase", p)
			}
		}
		err = errors.Join(err, w.err)
	}
	if len(w.Messages) > 0 && err == nil {
		err = pages.ExecuteTemplate(out, "conversation", w.Messages)
	}
	return err
}

// firstLine returns the beginning of a message's text, in one line.
func firstLine(m conversation.Message) string {
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

// imageURL returns an image as an address that holds it, and "" for a file that is not
// shown.
func imageURL(f conversation.File) template.URL {
	if !f.Image {
		return ""
	}
	data, err := f.Data()
	if err != nil {
		return "" // the page shows its label
	}
	return template.URL("data:" + f.Media + ";base64," + base64.StdEncoding.EncodeToString(data))
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
