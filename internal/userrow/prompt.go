package userrow

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

// IsPrompt reports whether a user message is a prompt of a person, by the
// stricter rule that the newest tools use to tell prompts from what hosts put
// in: it has no tool_call_id, no text of it begins with <system-reminder>,
// metadata.ephemeral is not true in Python's sense, and no block of it names the
// call of which it is the result. A block that names none does not count.
//
// content and metadata are the row from the values of these members on, nil
// where it has none; answers tells that the row has a member tool_call_id.
func IsPrompt(content, metadata []byte, answers bool) bool {
	if answers || isEphemeral(metadata) {
		return false
	}
	switch pyjson.KindOf(content) {
	case pyjson.String:
		return !IsReminder(content)
	case pyjson.Array:
	default:
		return true
	}
	for block, member := range pyjson.Pick(content, "type", "text") {
		if IsReminder(member[1]) || isResult(member[0]) && namesCall(block) {
			return false
		}
	}
	return true
}

func isEphemeral(metadata []byte) bool {
	if metadata == nil {
		return false
	}
	metadata = pyjson.First(metadata)
	if pyjson.KindOf(metadata) != pyjson.Object {
		return false
	}
	raw, ok := pyjson.Lookup(metadata, "ephemeral")
	return ok && pyjson.Truthy(raw)
}

// isResult reports whether a block of that type is the result of a tool.
func isResult(kind []byte) bool {
	return pyjson.KindOf(kind) == pyjson.String && (pyjson.KeyIs(kind, "tool_result") || pyjson.KeyIs(kind, "function_call_output"))
}

// namesCall reports whether the first of the members with an id that is true in
// Python's sense is a text.
func namesCall(block []byte) bool {
	for _, raw := range pyjson.Values(block, "tool_use_id", "tool_call_id", "call_id", "id") {
		if raw != nil && pyjson.Truthy(raw) {
			return pyjson.KindOf(raw) == pyjson.String
		}
	}
	return false
}

// PromptText returns the JSON text by which a prompt is found among events: the
// content, or the text of the first block of the type text in it. It is nil if
// there is none. content is as for [IsPrompt].
func PromptText(content []byte) []byte {
	switch pyjson.KindOf(content) {
	case pyjson.String:
		return pyjson.First(content)
	case pyjson.Array:
	default:
		return nil
	}
	for _, member := range pyjson.Pick(content, "type", "text") {
		if pyjson.KindOf(member[0]) == pyjson.String && pyjson.KeyIs(member[0], "text") && pyjson.KindOf(member[1]) == pyjson.String {
			return pyjson.First(member[1])
		}
	}
	return nil
}
