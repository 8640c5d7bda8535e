package cli

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// toolForm says how the calls of tools and their results are shown.
type toolForm int

// The forms.
const (
	noTools  toolForm = iota
	folded            // a line for the call, and one for the result with its size
	unfolded          // all of both
	arriving          // as folded, but results may come later
)

// formOfTools is the form that a flag asks for.
func formOfTools(all bool) toolForm {
	if all {
		return unfolded
	}
	return folded
}

// toolCall writes a call, and its result below it.
func (a *app) toolCall(c conversation.Call, form toolForm) {
	if form == unfolded {
		a.Printf("  %s\n", a.Paint(screen.Dim, "→ "+screen.Plain(c.Name)))
		a.toolText(indented(c.Arguments.Text))
	} else {
		a.toolLine("  ", "→ "+c.Name+" "+c.Arguments.Text, len(c.Arguments.Text))
	}
	switch {
	case c.Result != nil:
		a.toolResult(*c.Result, form, "    ")
	case form != arriving:
		a.Printf("    %s\n", a.Paint(screen.Yellow, "← no result"))
	}
}

// toolResult writes a result behind a margin.
func (a *app) toolResult(r conversation.Result, form toolForm, margin string) {
	text := strings.TrimRight(r.Text.Text, "\n ")
	lines := strings.Count(text, "\n") + 1
	told := size(int64(r.Text.Size))
	if lines > 1 {
		told += ", " + count(lines, "line")
	}
	if form == unfolded {
		a.Printf("%s%s\n", margin, a.Paint(screen.Dim, "← "+told))
		a.toolText(text)
		return
	}
	begin, _, more := strings.Cut(strings.TrimLeft(text, "\n "), "\n")
	switch {
	case text == "":
		begin = "nothing"
	case more || screen.Columns(screen.Plain(start(begin))) > a.toolRoom(margin):
		begin = told + ": " + begin
	}
	a.toolLine(margin, "← "+begin, 0)
}

// toolRoom is how many columns a line about a tool has behind its margin and an
// arrow.
func (a *app) toolRoom(margin string) int {
	const longest = 200 // in a pipe
	if a.Terminal() {
		return max(shortID, min(a.Width(), longest)-len(margin)-2)
	}
	return longest
}

// toolLine writes a line about a tool, cut where it is long; then it ends in the
// size of what it shows, if that is not 0.
func (a *app) toolLine(margin, text string, bytes int) {
	room := a.toolRoom(margin) + 2
	line := screen.Plain(start(text))
	if bytes > 0 && screen.Columns(line) > room {
		told := " (" + size(int64(bytes)) + ")"
		if left := room - len(told); left > 2*shortID {
			line = screen.Fit(line, left) + told
		}
	}
	a.Printf("%s%s\n", margin, a.Paint(screen.Dim, screen.Fit(line, room)))
}

// start is the beginning of a text of which a line is shown.
func start(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// toolText writes all of a text.
func (a *app) toolText(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(screen.Lines(text), "\n "), "\n") {
		a.Printf("    %s\n", a.Paint(screen.Dim, line))
	}
}

// indented returns JSON with a member a line, and other text as it is.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}
