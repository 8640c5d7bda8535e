package cli

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/markdown"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// conversation writes messages for people: the texts of the user and of the assistant,
// and the calls of tools with their results in the given form.
func (a *app) conversation(rows []sessionstore.Message, form toolForm) error {
	view, err := conversation.New(rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.message(row, view.Messages(i, i+1, conversation.Limits{})[0], form)
	}
	return nil
}

// message writes one message of a conversation.
func (a *app) message(row sessionstore.Message, m conversation.Message, form toolForm) {
	text := strings.TrimRight(screen.Lines(row.Content()), "\n ")
	switch {
	case m.Role == "user" && (text != "" || m.Starts || len(m.Files) > 0):
		a.Printf("\n%s %s\n", a.Paint(screen.Green, ">"), text)
	case m.Role == "assistant" && text != "":
		a.Print("\n" + a.Paint(screen.Green, "Amplifier:") + "\n" + a.rendered(text) + "\n")
	}
	a.files(m.Files, "")
	if form == noTools {
		return
	}
	for _, call := range m.Calls {
		a.toolCall(call, form)
	}
	for _, result := range m.Results {
		a.toolResult(result, form, "  ")
	}
}

// files writes the images and other files of a message, each by its label.
func (a *app) files(files []conversation.File, margin string) {
	for _, f := range files {
		a.Printf("%s%s\n", margin, a.Paint(screen.Dim, "["+screen.Plain(f.Label)+"]"))
	}
}

// rendered returns Markdown that passed [screen.Lines] as a terminal shows it.
func (a *app) rendered(text string) string {
	if !a.Terminal() || a.plain {
		return text
	}
	return markdown.Render(text, markdown.Options{Width: a.Width(), Colour: a.Colour(), Whole: true})
}

// page sends the rest of the output through a pager, unless --no-pager is set.
func (a *app) page() {
	if a.paged {
		a.later(a.Page(a.env))
	}
}
