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

// repairedAnswer is the answer that [Repair] adds, without its closing brace, as in the
// reference.
const (
	repairedAnswer = `{"role": "assistant", "content": [{"type": "text", ` +
		`"text": "The previous tool calls were interrupted. This response was automatically repaired."}]`
)
