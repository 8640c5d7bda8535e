package slice

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Summary tells what happened in a turn.
type Summary struct {
	Turn      int    `json:"turn"`
	User      string `json:"user_content"`      // the first text of the last user message that has one
	Assistant string `json:"assistant_content"` // the first text that is not empty
	Tools     int    `json:"tool_count"`
	Messages  int    `json:"message_count"`
}

// Summarize tells what happened in a turn, counted from 1. A text of more than
// maxLength characters is cut and three dots are added. Lone surrogates become
// U+FFFD. A call that stands both in tool_calls and in content counts once. If
// there is no such turn, the text of the error is the reference's.
func Summarize(msgs []sessionstore.Message, turn, maxLength int) (Summary, error) {
	t, count, ok := findTurn(msgs, turn)
	if !ok {
		return Summary{}, textError(fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	s := Summary{Turn: turn, Messages: t.End - t.Start}
	for _, m := range msgs[t.Start:t.End] {
		switch m.Role() {
		case "user":
			s.addUser(turns.Members(m.AppendTo(nil), "content")[0], maxLength)
		case "assistant":
			s.addAssistant(turns.Members(m.AppendTo(nil), "content", "tool_calls"), maxLength)
		}
	}
	return s, nil
}

func (s *Summary) addUser(content []byte, maxLength int) {
	if list := texts(content); len(list) > 0 {
		s.User = cut(list[0], maxLength)
	}
}

func (s *Summary) addAssistant(found [4][]byte, maxLength int) {
	for _, text := range texts(found[0]) {
		if s.Assistant == "" {
			s.Assistant = cut(text, maxLength)
		}
	}
	listed := map[string]bool{}
	for raw := range pyjson.Elements(found[1]) {
		s.Tools++
		if id, ok := turns.IDOf(turns.Members(raw, "id")[0]); ok {
			listed[id] = true
		}
	}
	for block := range pyjson.Elements(found[0]) {
		if !turns.IsBlock(block, "tool_use") {
			continue
		}
		if id, ok := turns.IDOf(turns.Members(block, "id")[0]); !ok || !listed[id] {
			s.Tools++
		}
	}
}

// texts returns the content if it is a text, else the texts of its blocks.
func texts(content []byte) (list []string) {
	if pyjson.KindOf(content) == pyjson.String {
		return []string{pyjson.Text(content)}
	}
	for block := range pyjson.Elements(content) {
		if !turns.IsBlock(block, "text") {
			continue
		}
		text := ""
		if raw := turns.Members(block, "text")[0]; pyjson.KindOf(raw) == pyjson.String {
			text = pyjson.Text(raw)
		}
		list = append(list, text)
	}
	return list
}

// cut returns the first n characters of a text, with three dots if there are
// more.
func cut(text string, n int) string {
	for i := range text {
		if n <= 0 {
			return text[:i] + "..."
		}
		n--
	}
	return text
}
