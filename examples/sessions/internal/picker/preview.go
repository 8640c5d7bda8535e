package picker

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// briefBytes limits the line of a call, a result or a thought.
const briefBytes = 300

// preview reads the last turns of a session. A damaged session is read as far as
// possible.
func (s store) preview(ctx context.Context, k Key) tea.Msg {
	st, err := s.projects.Store(k.Project)
	if err != nil {
		return Previewed{Key: k, Err: err}
	}
	rows, err := slice.ResumeWindow(ctx, st, k.ID, previewTurns)
	if len(rows) == 0 {
		return Previewed{Key: k, Err: err}
	}
	all, err := passages(rows, previewBytes)
	return Previewed{k, all, err}
}

// passages returns messages as the preview shows them, with at most so many bytes of each text.
func passages(rows []sessionstore.Message, most int) (all []Passage, err error) {
	view, err := conversation.New(rows)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		m := view.Messages(i, i+1, conversation.Limits{})[0]
		brief := func(role, text string) {
			all = append(all, Passage{Role: role, Brief: clean(screen.Start(text, briefBytes))})
		}
		for _, text := range row.Thinking() {
			if cleanLines(text) != "" {
				brief("thinking", "thinking: "+text)
			}
		}
		if m.Text != nil && m.Role != "tool" {
			switch text := cleanLines(limited(m.Text.Text, most)); {
			case strings.TrimSpace(text) == "":
			case m.Injected:
				brief("reminder", "reminder: "+m.Text.Text)
			default:
				all = append(all, Passage{Role: clean(m.Role), Text: text})
			}
		}
		for _, call := range m.Calls {
			text := "→ " + call.Name + " " + call.Arguments.Text
			if call.Result != nil {
				text = screen.Start(text, briefBytes/4) + "  ← " + measured(call.Result.Text.Text)
			}
			brief("tool", text)
		}
		for _, result := range m.Results {
			brief("tool", "← "+measured(result.Text.Text))
		}
	}
	return all, nil
}

// limited is the beginning of a text that is too long for the screen, and says so.
func limited(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s\n(%d of %d bytes; sessions show has all of them)", screen.Start(text, most), most, len(text))
}

// measured returns the size of a result, and how it begins.
func measured(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "nothing"
	}
	begin, _, more := strings.Cut(text, "\n")
	if !more {
		return begin
	}
	return fmt.Sprintf("%d lines: %s", strings.Count(text, "\n")+1, begin)
}
