package conversation

import (
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/store/named"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Note is one thing that was said or done.
type Note struct {
	Message int    `json:"message"` // the number of its message, from 1
	Turn    int    `json:"turn"`    // from 1; 0: before the first
	Kind    string `json:"kind"`    // prompt: of a person; answer: of the model; command; file: that a call names
	Text    string `json:"text"`    // all of it
}

// Hidden yields what was said and done in the first n messages of a session, in their order:
// what stood before a compaction, where n is the number of messages before it. A file is
// named once in each turn, and so is a command. The error of rows comes last.
func Hidden(rows iter.Seq2[sessionstore.Message, error], n int) iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		at, seen := Note{}, map[Note]bool{}
		told := func(kind, text string) bool {
			once := Note{Kind: kind, Text: text}
			if text == "" || seen[once] {
				return true
			}
			seen[once] = kind == "command" || kind == "file"
			at.Kind, at.Text = kind, text
			return yield(at, nil)
		}
		for m, err := range rows {
			if err != nil {
				yield(Note{}, err)
				return
			}
			if at.Message == n {
				return
			}
			at.Message++
			if slice.CountTurns([]sessionstore.Message{m}) > 0 {
				at.Turn++
				clear(seen)
			}
			switch {
			case slice.IsRealUser(m) && !told("prompt", m.Content()), m.Role() == "assistant" && !told("answer", m.Content()):
				return
			}
			for _, call := range m.ToolCalls() {
				for text, kind := range named.In(call.Arguments) {
					if kind == named.Command && !told("command", text) || kind == named.File && !told("file", text) {
						return
					}
				}
			}
		}
	}
}
