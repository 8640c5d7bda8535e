package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
)

// forkedToolRow returns the result that completes a call, without the closing
// brace. A result for a tool without a name has no member name.
func forkedToolRow(id, name string) []byte {
	line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), id, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "content": `...), turns.ForkedResult, pyjson.Style{})
	if name != "" {
		line = pyjson.AppendQuoted(append(line, `, "name": `...), name, pyjson.Style{})
	}
	return line
}

// repairedResult is the content of a result that [Repair] and [Mend] add.
// repairedAnswer is the answer that Repair adds, without its closing brace. Both
// are as in the reference.
const (
	repairedResult = `{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}`
	repairedAnswer = `{"role": "assistant", "content": [{"type": "text", ` +
		`"text": "The previous tool calls were interrupted. This response was automatically repaired."}]`
)

// missingResult returns the result that [Mend] adds for a call.
func missingResult(c sentCall) []byte {
	line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), c.id, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "name": `...), c.name, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "content": `...), repairedResult, pyjson.Style{})
	return append(line, '}')
}
