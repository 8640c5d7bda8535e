package slice

import (
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// thinkingMember looks at the member thinking_block, which messages have in
// memory. Only Anthropic gets it.
func (e *examiner) thinkingMember() {
	raw := members(e.line, "thinking_block")[0]
	if e.provider != Anthropic || raw == nil || pyjson.KindOf(raw) == pyjson.Null {
		return
	}
	if e.thinkingBlock(raw, textOf(members(raw, "type")[0])) == gone {
		e.line = pyjson.TrimSpace(pyjson.Remove(e.line, "thinking_block"))
		return
	}
	e.thinks = true
}

// thinkingBlock tells what becomes of thinking.
func (e *examiner) thinkingBlock(raw []byte, kind string) blockKind {
	f := members(raw, "thinking", "signature", "content", "data")
	why, sends := Reason(""), true
	switch e.provider {
	case Anthropic:
		why = anthropicThinking(kind, f)
	case Gemini:
		if sends = kind == "thinking" && truthy(f[1]); sends {
			why = geminiThinking(f)
		}
	case OpenAIResponses:
		if sends = kind == "thinking" && reasoningID(f[2]) != ""; sends {
			why = e.reasoningItem(f)
		}
	default:
		sends = false
	}
	switch {
	case !sends:
		return silent
	case why != "":
		e.report(why, "")
		return gone
	}
	return thinking
}

func anthropicThinking(kind string, f [4][]byte) Reason {
	switch {
	case kind == "redacted_thinking" && textOf(f[3]) != "":
		return ""
	case kind != "thinking" || pyjson.KindOf(f[0]) != pyjson.String:
		return BrokenThinking
	case isOpenAI(f[2]):
		return ForeignThinking
	case textOf(f[1]) == "":
		return UnsignedThinking
	}
	return ""
}

func geminiThinking(f [4][]byte) Reason {
	switch {
	case truthy(f[0]) && pyjson.KindOf(f[0]) != pyjson.String:
		return BrokenThinking
	case isOpenAI(f[2]):
		return ForeignThinking
	case textOf(f[1]) == "":
		return UnsignedThinking
	}
	return ""
}

// reasoningItem looks at a reasoning item, and notes it.
func (e *examiner) reasoningItem(f [4][]byte) Reason {
	id := reasoningID(f[2])
	switch {
	case truthy(f[0]) && pyjson.KindOf(f[0]) != pyjson.String:
		return BrokenThinking
	case encrypted(f[2]) == "":
		return UnsignedThinking
	case e.seen[id] || slices.Contains(e.reasoning, id):
		return DuplicateReason
	}
	e.reasoning = append(e.reasoning, id)
	return ""
}

// isOpenAI reports whether the member content of thinking is what OpenAI's
// reasoning is stored as: [encrypted, id].
func isOpenAI(content []byte) bool { return strings.HasPrefix(reasoningID(content), "rs_") }

func reasoningID(content []byte) string { return elementText(content, 1) }

func encrypted(content []byte) string { return elementText(content, 0) }

// elementText returns an element of an array that is a text.
func elementText(arr []byte, at int) string {
	i := 0
	for raw := range pyjson.Elements(arr) {
		if i == at {
			return textOf(raw)
		}
		i++
	}
	return ""
}

// truthy reports what Python takes for true.
func truthy(raw []byte) bool {
	switch pyjson.KindOf(raw) {
	case pyjson.Invalid, pyjson.Null, pyjson.False:
		return false
	case pyjson.Integer:
		n, ok := pyjson.Int(raw)
		return !ok || n != 0
	case pyjson.String:
		return len(raw) > len(`""`)
	}
	return true
}

// thinkingOrder looks at where thinking stands in an answer.
func (e *examiner) thinkingOrder(list []block) []block {
	isThinking := func(b block) bool { return b.kind == thinking }
	if !slices.ContainsFunc(list, isThinking) {
		return list
	}
	is := func(kinds ...blockKind) bool {
		return slices.ContainsFunc(list, func(b block) bool { return slices.Contains(kinds, b.kind) })
	}
	switch e.provider {
	case Anthropic:
		sends := slices.IndexFunc(list, func(b block) bool { return b.kind > silent })
		if !e.thinks && !isThinking(list[sends]) {
			e.report(ThinkingNotFirst, "")
			return slices.DeleteFunc(list, isThinking)
		}
		if isThinking(list[len(list)-1]) && len(e.calls) == 0 {
			e.report(ThinkingLast, "")
			return append(list, block{textual, textBlock(e.filler())})
		}
	case OpenAIResponses:
		if !is(textual, calling) && len(e.calls) == 0 {
			e.report(ReasoningAlone, "")
			e.reasoning = nil
			return slices.DeleteFunc(list, isThinking)
		}
	}
	return list
}
