package cli

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// conversation writes messages as a person reads them: those of the user and
// of the assistant, and with tools the calls and results in a line each.
func (a *app) conversation(rows []sessionstore.Message, tools bool) {
	for _, m := range rows {
		text := strings.TrimRight(screen.Lines(m.Content()), "\n ")
		switch m.Role() {
		case "user":
			a.Printf("\n%s %s\n", a.Paint(screen.Green, ">"), text)
		case "assistant":
			if text != "" {
				a.Printf("\n%s\n%s\n", a.Paint(screen.Green, "Amplifier:"), text)
			}
			if !tools {
				continue
			}
			for _, call := range m.ToolCalls() {
				a.toolLine("→ " + call.Name + " " + string(call.Arguments))
			}
		case "tool":
			if tools {
				a.toolLine("← " + m.Content())
			}
		}
	}
}

// thinking writes what a model thought before a message.
func (a *app) thinking(m sessionstore.Message) {
	var texts []string
	if content, ok := m.Lookup("content"); ok && pyjson.KindOf(content) == pyjson.Array {
		for block := range pyjson.Elements(content) {
			kind, _ := pyjson.Lookup(block, "type")
			text, _ := pyjson.Lookup(block, "thinking")
			if pyjson.KindOf(kind) == pyjson.String && pyjson.Text(kind) == "thinking" && pyjson.KindOf(text) == pyjson.String {
				texts = append(texts, pyjson.Text(text))
			}
		}
	}
	if text, ok := m.Lookup("thinking_text"); ok && pyjson.KindOf(text) == pyjson.String {
		texts = append(texts, pyjson.Text(text))
	}
	for _, text := range texts {
		a.Printf("\n%s\n", a.Paint(screen.Dim, "Thinking: "+strings.TrimRight(screen.Lines(text), "\n ")))
	}
}

// toolLine writes a line about a tool, cut where it is long.
func (a *app) toolLine(text string) {
	const longest = 200
	width := longest
	if a.Terminal() {
		width = min(a.Width()-2, longest)
	}
	if len(text) > 4*longest { // no more of it is shown
		text = strings.ToValidUTF8(text[:4*longest], "") + " …"
	}
	a.Printf("  %s\n", a.Paint(screen.Dim, screen.Fit(screen.Plain(text), width)))
}
