package sessionstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// ToolCallMessage returns the assistant's message {"role", "content",
// "tool_calls": [{"id", "tool", "arguments"}], "metadata": {"timestamp"}}, the
// form of the reference's orchestrators. text may be empty, and so may the
// arguments of a call: they are {} then. [Message.ToolCalls] reads the calls
// back. Each call needs a [ToolResult] behind the message.
//
// The error Is [ErrUnstorable] and names the call when there is none, when it
// has no id or name, when its id stands twice, or when its arguments are not an
// object that [NewMessage] can store.
func ToolCallMessage(text string, at time.Time, calls ...ToolCall) (Message, error) {
	if len(calls) == 0 {
		return Message{}, fmt.Errorf("new tool call message: %w: no calls", ErrUnstorable)
	}
	row := pyjson.AppendQuoted([]byte(`{"role": "assistant", "content": `), text, writeStyle())
	row = append(row, `, "tool_calls": [`...)
	seen := map[string]bool{}
	for i, c := range calls {
		err := c.check()
		if err == nil && seen[c.ID] {
			err = fmt.Errorf("%w: its id stands twice", ErrUnstorable)
		}
		if err != nil {
			return Message{}, fmt.Errorf("new tool call message: call %d: %w", i+1, err)
		}
		if i > 0 {
			row = append(row, ", "...)
		}
		seen[c.ID], row = true, c.append(row)
	}
	return NewMessage(json.RawMessage(appendTime(append(row, ']'), at)))
}

// check reports what keeps a call from being stored.
func (c ToolCall) check() error {
	switch {
	case c.ID == "":
		return fmt.Errorf("%w: its id is empty", ErrUnstorable)
	case c.Name == "":
		return fmt.Errorf("%w: its tool has no name", ErrUnstorable)
	case len(c.Arguments) == 0:
		return nil
	}
	if err := pyjson.Check(c.Arguments, pyjson.Tolerant); err != nil {
		return unstorable("its arguments", err)
	}
	if pyjson.KindOf(pyjson.Trim(c.Arguments)) != pyjson.Object {
		return fmt.Errorf("%w: its arguments are not a JSON object", ErrUnstorable)
	}
	return nil
}

// append appends the call as an entry of tool_calls.
func (c ToolCall) append(row []byte) []byte {
	row = pyjson.AppendQuoted(append(row, `{"id": `...), c.ID, writeStyle())
	row = pyjson.AppendQuoted(append(row, `, "tool": `...), c.Name, writeStyle())
	row = append(row, `, "arguments": `...)
	if len(c.Arguments) == 0 {
		return append(row, "{}}"...)
	}
	return append(append(row, c.Arguments...), '}')
}

// ToolResult returns the message {"role", "name", "tool_call_id", "content",
// "metadata": {"timestamp"}}: what the tool of that name answered to the call of
// that id. An empty id or name is an error that Is [ErrUnstorable].
func ToolResult(callID, name, content string, at time.Time) (Message, error) {
	if callID == "" || name == "" {
		return Message{}, fmt.Errorf("new tool result: %w: the call has no id or the tool no name", ErrUnstorable)
	}
	s := writeStyle()
	row := pyjson.AppendQuoted([]byte(`{"role": "tool", "name": `), name, s)
	row = pyjson.AppendQuoted(append(row, `, "tool_call_id": `...), callID, s)
	row = pyjson.AppendQuoted(append(row, `, "content": `...), content, s)
	return newMessage(appendTime(row, at)), nil
}
