package slice

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
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

// Summarize tells what happened in a turn. Texts of more than maxLength
// characters are cut and end in three dots then. Lone surrogates in them are
// U+FFFD. A call that stands both in tool_calls and in content counts once.
// The error for a turn that is not there is the reference's.
func Summarize(msgs []sessionstore.Message, turn, maxLength int) (Summary, error) {
	t, count, ok := findTurn(msgs, turn)
	if !ok {
		return Summary{}, textError(fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	s := Summary{Turn: turn, Messages: t.End - t.Start}
	for _, m := range msgs[t.Start:t.End] {
		switch m.Role() {
		case "user":
			s.addUser(members(m.AppendTo(nil), "content")[0], maxLength)
		case "assistant":
			s.addAssistant(members(m.AppendTo(nil), "content", "tool_calls"), maxLength)
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
		if id, ok := idOf(members(raw, "id")[0]); ok {
			listed[id] = true
		}
	}
	for block := range pyjson.Elements(found[0]) {
		if !isBlock(block, "tool_use") {
			continue
		}
		if id, ok := idOf(members(block, "id")[0]); !ok || !listed[id] {
			s.Tools++
		}
	}
}

// texts returns content that is a text, or the texts of its blocks.
func texts(content []byte) (list []string) {
	if pyjson.KindOf(content) == pyjson.String {
		return []string{pyjson.Text(content)}
	}
	for block := range pyjson.Elements(content) {
		if !isBlock(block, "text") {
			continue
		}
		text := ""
		if raw := members(block, "text")[0]; pyjson.KindOf(raw) == pyjson.String {
			text = pyjson.Text(raw)
		}
		list = append(list, text)
	}
	return list
}

// cut returns the first n characters of a text, and dots if there are more.
func cut(text string, n int) string {
	for i := range text {
		if n <= 0 {
			return text[:i] + "..."
		}
		n--
	}
	return text
}
