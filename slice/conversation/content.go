package conversation

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// result is a result of a tool in a message.
type result struct {
	block int
	id    string
	call  int // index of the message with its call; -1: there is none
}

// resultsIn returns the results of tools that a message holds.
func resultsIn(m sessionstore.Message) (found []result) {
	if m.Role() == "tool" {
		return []result{{block: -1, id: m.ToolCallID(), call: -1}}
	}
	for i, block := range blocks(m) {
		if isBlock(block, "tool_result") {
			found = append(found, result{block: i, id: member(block, "tool_use_id"), call: -1})
		}
	}
	return found
}

// contentText returns the text of a message, and the JSON of a content that
// is neither text nor a list.
func contentText(m sessionstore.Message) string {
	if t := m.Content(); t != "" {
		return t
	}
	raw, _ := m.Lookup("content")
	switch pyjson.KindOf(raw) {
	case pyjson.String, pyjson.Null, pyjson.Invalid:
		return ""
	case pyjson.Array:
		return unknownBlocks(raw)
	}
	return string(raw)
}

// unknownBlocks returns the JSON of the blocks that nothing else shows.
func unknownBlocks(content []byte) string {
	var parts []string
	for block := range pyjson.Elements(content) {
		switch member(block, "type") {
		case "text", "thinking", "redacted_thinking", "tool_use", "tool_call", "tool_result":
		default:
			if _, file := fileOf(block); !file {
				parts = append(parts, string(block))
			}
		}
	}
	return strings.Join(parts, "\n")
}

// valueText returns a string as its text, the texts of blocks, and all else as
// its JSON.
func valueText(raw []byte) string {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return pyjson.Text(raw)
	case pyjson.Null, pyjson.Invalid:
		return ""
	case pyjson.Array:
		var parts []string
		for block := range pyjson.Elements(raw) {
			if t := member(block, "text"); t != "" {
				parts = append(parts, t)
			} else if _, file := fileOf(block); !file {
				parts = append(parts, string(block))
			}
		}
		return strings.Join(parts, "\n")
	}
	return string(raw)
}

// thinking returns the thoughts of the model before its answer.
func thinking(m sessionstore.Message) string {
	if raw, ok := m.Lookup("thinking_text"); ok {
		if t := pyjson.Text(raw); t != "" {
			return t
		}
	}
	var parts []string
	for _, block := range blocks(m) {
		if isBlock(block, "thinking") {
			parts = append(parts, member(block, "thinking"))
		}
	}
	return strings.Join(parts, "\n\n")
}
