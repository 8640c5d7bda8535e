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
		number, turn, seen := 0, 0, map[Note]bool{}
		for m, err := range rows {
			if err != nil {
				yield(Note{}, err)
				return
			}
			if number == n {
				return
			}
			number++
			turn += slice.CountTurns([]sessionstore.Message{m})
			for text, kind := range notes(m) {
				once := Note{Turn: turn, Kind: kind, Text: text}
				if text == "" || seen[once] {
					continue
				}
				if kind == "command" || kind == "file" {
					seen[once] = true
				}
				if !yield(Note{number, turn, kind, text}, nil) {
					return
				}
			}
		}
	}
}

// notes yields the texts and the kinds of the notes about a message.
func notes(m sessionstore.Message) iter.Seq2[string, string] {
	return func(yield func(text, kind string) bool) {
		if slice.IsRealUser(m) && !yield(m.Content(), "prompt") || m.Role() == "assistant" && !yield(m.Content(), "answer") {
			return
		}
		for _, call := range m.ToolCalls() {
			for text, kind := range named.In(call.Arguments) {
				if kind != named.Other && !yield(text, [...]string{named.File: "file", named.Command: "command"}[kind]) {
					return
				}
			}
		}
	}
}
