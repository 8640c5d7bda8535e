// Package rowtest has rows of transcripts for tests, and makes conversations at random.
package rowtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	Ask      = `{"role":"user", "content": "q"}`
	Reminder = `{"role": "user", "content": " <system-reminder>x</system-reminder>"}`
	Say      = `{"role": "assistant","content":"a"}`
)

func Calling(ids ...string) string {
	list := ""
	for i, id := range ids {
		if i > 0 {
			list += ", "
		}
		list += fmt.Sprintf(`{"id": %q, "function": {"name": "f"}}`, id)
	}
	return `{"role": "assistant", "content": "", "tool_calls": [` + list + `]}`
}

func Result(id string) string {
	return fmt.Sprintf(`{"role": "tool", "tool_call_id": %q, "content": "r"}`, id)
}

func Using(id string) string {
	return fmt.Sprintf(`{"role": "assistant", "content": [{"type": "tool_use", "id": %q, "name": "g", "input": {}}]}`, id)
}

// Answering is a user message with a Result and more blocks.
func Answering(id, more string) string {
	return fmt.Sprintf(`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": %q, "content": "r"}%s]}`, id, more)
}

const MoreText = `, {"type": "text", "text": "and"}`

const (
	Note   = `{"role": "user", "content": [{"type": "text", "text": "more"}]}`
	Signed = `{"type": "thinking", "thinking": "t", "signature": "sig"}`
)

func Answer(blocks string) string {
	return `{"role": "assistant", "content": [` + blocks + `]}`
}

// CallOf is a call with a given id, name and arguments.
func CallOf(id, name, arguments string) string {
	return `{"role": "assistant", "content": "", "tool_calls": [{"id": ` + id + `, "type": "function", "function": {"name": ` +
		name + `, "arguments": ` + arguments + `}}]}`
}

// Dealer makes messages of a few kinds that all may follow each other.
type Dealer struct{ *rand.Rand }

func (d Dealer) pick(list ...string) string { return list[d.IntN(len(list))] }

func (d Dealer) id() string { return d.pick(`"c1"`, `"c1"`, `"c2"`, `"c2"`, `"c3"`) }

func (d Dealer) oddID() string { return d.pick(d.id(), d.id(), `""`, `null`, `7`, `"a|b.c"`) }

func (d Dealer) call() string {
	switch d.IntN(8) {
	case 0:
		return `{"id": ` + d.oddID() + `, "tool": "read", "arguments": {}}`
	case 1:
		return `{"id": ` + d.id() + `, "type": "function", "function": {"name": "a b", "arguments": "[1]"}}`
	case 2:
		return d.pick(`5`, `null`, `{"id": "c1"}`, `{}`)
	}
	return `{"id": ` + d.id() + `, "function": {"name": "f", "arguments": "{}"}}`
}

func (d Dealer) block() string {
	switch d.IntN(16) {
	case 0, 1, 2:
		return `{"type": "text", "text": "hello"}`
	case 3:
		return `{"type": "text", "text": ` + d.pick(`""`, `"  "`, `"<system-reminder>x"`, `null`, `3`) + `}`
	case 4, 5:
		return `{"type": "tool_use", "id": ` + d.oddID() + `, "name": "g", "input": ` + d.pick(`{}`, `{}`, `"x"`, `[]`) + `}`
	case 6:
		return `{"type": "tool_use", "id": ` + d.id() + `, "name": "g", "input": {}}`
	case 7, 8, 9:
		return `{"type": "tool_result", "tool_use_id": ` + d.oddID() + `, "content": "r"}`
	case 10:
		return `{"type": "thinking", "thinking": "t", "signature": ` + d.pick(`"sig"`, `"sig"`, `null`, `""`, `4`) + `}`
	case 11:
		return `{"type": "thinking", "thinking": ` + d.pick(`"t"`, `null`) + `, "content": [` + d.pick(`"enc"`, `null`) + `, "rs_1"]}`
	case 12:
		return `{"type": "redacted_thinking", "data": ` + d.pick(`"d"`, `null`) + `}`
	case 13:
		return `{"type": "image", "source": {"type": "base64", "data": ""}}`
	case 14:
		return d.pick(`"bare"`, `5`, `null`, `[]`, `{}`, `{"text": "untyped"}`, `{"type": 5}`)
	}
	return `{"type": "other"}`
}

func list(d Dealer, most int, one func() string) string {
	text := ""
	for i := range d.IntN(most + 1) {
		if i > 0 {
			text += ", "
		}
		text += one()
	}
	return "[" + text + "]"
}

func (d Dealer) content() string {
	switch d.IntN(10) {
	case 0:
		return d.pick(`null`, `5`, `true`, `{}`, `{"type": "text", "text": "one"}`, `""`, `"  "`)
	case 1, 2, 3:
		return d.pick(`"spoken"`, `"spoken"`, `"<system-reminder>x</system-reminder>"`)
	}
	return list(d, 3, d.block)
}

// row makes any message.
func (d Dealer) row() string {
	switch d.IntN(12) {
	case 0, 1:
		return fmt.Sprintf(`{"role": "user", "content": %s}`, d.content())
	case 2, 3:
		return fmt.Sprintf(`{"role":"assistant","content":%s}`, d.content())
	case 4, 5:
		return fmt.Sprintf(`{"role": "assistant", "content": %s, "tool_calls": %s}`, d.content(), list(d, 2, d.call))
	case 6, 7, 8:
		return fmt.Sprintf(`{"role": "tool", "tool_call_id": %s, "content": "r"}`, d.oddID())
	case 9:
		return fmt.Sprintf(`{"role": %s, "content": %s}`, d.pick(`"User"`, `"system"`, `"developer"`, `["user"]`, `""`), d.content())
	case 10:
		return d.pick(Ask, Say, Ask, Say, Reminder, `{}`, `{"role": "user"}`, `{"role": "assistant"}`, `{"role": "tool"}`,
			`{"role": "assistant", "content": "x", "tool_calls": {"id": 1}}`,
			`{"role": "user", "tool_call_id": "c1", "content": "x"}`,
			`{"role": "assistant", "content": "", "thinking_block": {"type": "thinking", "thinking": "t", "signature": "s"}}`,
			`{"role": "assistant", "content": "x", "thinking_block": {"type": "thinking", "thinking": "t"}}`)
	}
	return Calling("c1")
}

func (d Dealer) Rows(most int) []string {
	rows := make([]string, d.IntN(most+1))
	for i := range rows {
		rows[i] = d.row()
	}
	return rows
}

// Talk makes a conversation as one really is, of some turns. Now and then something in it
// is missing or in another place.
func (d Dealer) Talk(turns int) (rows []string) {
	next := 0
	for range turns {
		if d.IntN(3) == 0 {
			rows = append(rows, Reminder)
		}
		rows = append(rows, d.pick(Ask, Note))
		for range d.IntN(3) {
			rows = append(rows, d.calls(&next)...)
		}
		if d.IntN(5) > 0 {
			rows = append(rows, d.pick(Say, Answer(Signed+`, {"type": "text", "text": "a"}`)))
		}
	}
	switch i := d.IntN(max(1, len(rows))); d.IntN(6) {
	case 0:
		rows = append(rows[:i], rows[i+1:]...)
	case 1:
		j := d.IntN(len(rows))
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// calls makes a message with calls and their results.
func (d Dealer) calls(next *int) []string {
	var blocks, listed, results []string
	if d.IntN(3) == 0 {
		blocks = append(blocks, d.pick(Signed, fmt.Sprintf(`{"type": "thinking", "content": ["enc", "rs_%d"]}`, *next)))
	}
	if d.IntN(2) == 0 {
		blocks = append(blocks, `{"type": "text", "text": "so"}`)
	}
	inBlocks := d.IntN(2) == 0
	for range 1 + d.IntN(3) {
		*next++
		id := fmt.Sprintf("call_%d", *next)
		if inBlocks {
			blocks = append(blocks, fmt.Sprintf(`{"type": "tool_use", "id": %q, "name": "f", "input": {}}`, id))
			results = append(results, Answering(id, ""))
			continue
		}
		listed = append(listed, fmt.Sprintf(`{"id": %q, "tool": "f", "arguments": {}}`, id))
		results = append(results, Result(id))
	}
	row := fmt.Sprintf(`{"role": "assistant", "content": [%s]`, strings.Join(blocks, ", "))
	if len(listed) > 0 {
		row += fmt.Sprintf(`, "tool_calls": [%s]`, strings.Join(listed, ", "))
	}
	d.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	return append([]string{row + "}"}, results...)
}

// Conversation makes n messages of about a kilobyte, the last call orphaned.
func Conversation(n int) []string {
	text := strings.Repeat("text ", 200)
	list := make([]string, 0, n)
	for i := 0; len(list) < n-2; i++ {
		id := fmt.Sprintf("call_%d", i)
		list = append(list, `{"role": "user", "content": "`+text+`"}`, Calling(id),
			`{"role": "tool", "tool_call_id": "`+id+`", "content": "`+text+`"}`, Say)
	}
	return append(list[:n-2], Ask, Calling("last"))
}
