package accept

import (
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// thinkingMember examines the member thinking_block. Only Anthropic gets it.
func (e *examiner) thinkingMember() {
	raw := turns.Members(e.line, "thinking_block")[0]
	if e.provider != Anthropic || raw == nil || pyjson.KindOf(raw) == pyjson.Null {
		return
	}
	if e.thinkingBlock(raw, turns.TextOf(turns.Members(raw, "type")[0])) == removed {
		e.line = pyjson.TrimSpace(pyjson.Remove(e.line, "thinking_block"))
		return
	}
	e.hasThinking = true
}

// thinkingBlock returns the kind of a block of thinking for a provider.
func (e *examiner) thinkingBlock(raw []byte, kind string) blockKind {
	f := turns.Members(raw, "thinking", "signature", "content", "data")
	why, sends := Reason(""), true
	switch e.provider {
	case Anthropic:
		why = anthropicThinking(kind, f)
	case Gemini:
		if sends = kind == "thinking" && pyjson.Truthy(f[1]); sends {
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
		return hidden
	case why != "":
		e.report(why, "")
		return removed
	}
	return thinking
}

func anthropicThinking(kind string, f [4][]byte) Reason {
	switch {
	case kind == "redacted_thinking" && turns.TextOf(f[3]) != "":
		return ""
	case kind != "thinking" || pyjson.KindOf(f[0]) != pyjson.String:
		return BrokenThinking
	case isOpenAI(f[2]):
		return ForeignThinking
	case turns.TextOf(f[1]) == "":
		return UnsignedThinking
	}
	return ""
}

func geminiThinking(f [4][]byte) Reason {
	switch {
	case pyjson.Truthy(f[0]) && pyjson.KindOf(f[0]) != pyjson.String:
		return BrokenThinking
	case isOpenAI(f[2]):
		return ForeignThinking
	case turns.TextOf(f[1]) == "":
		return UnsignedThinking
	}
	return ""
}

// reasoningItem examines a reasoning item of OpenAI. It notes the item's id if
// the item is allowed.
func (e *examiner) reasoningItem(f [4][]byte) Reason {
	id := reasoningID(f[2])
	switch {
	case pyjson.Truthy(f[0]) && pyjson.KindOf(f[0]) != pyjson.String:
		return BrokenThinking
	case encrypted(f[2]) == "":
		return UnsignedThinking
	case e.seen[id] || slices.Contains(e.reasoning, id):
		return DuplicateReason
	}
	e.reasoning = append(e.reasoning, id)
	return ""
}

// isOpenAI reports whether the member content of thinking has the form in which OpenAI's
// reasoning is stored: [encrypted, id].
func isOpenAI(content []byte) bool { return strings.HasPrefix(reasoningID(content), "rs_") }

func reasoningID(content []byte) string { return elementText(content, 1) }

func encrypted(content []byte) string { return elementText(content, 0) }

// elementText returns the element of an array at an index if it is a string,
// else "".
func elementText(arr []byte, at int) string {
	i := 0
	for raw := range pyjson.Elements(arr) {
		if i == at {
			return turns.TextOf(raw)
		}
		i++
	}
	return ""
}

// thinkingOrder examines the place of thinking in an answer.
func (e *examiner) thinkingOrder(list []block) []block {
	isThinking := func(b block) bool { return b.kind == thinking }
	if !slices.ContainsFunc(list, isThinking) {
		return list
	}
	switch e.provider {
	case Anthropic:
		sends := slices.IndexFunc(list, func(b block) bool { return b.kind > hidden })
		if !e.hasThinking && !isThinking(list[sends]) && !goesOn(list[sends].raw) {
			e.report(ThinkingNotFirst, "")
			return slices.DeleteFunc(list, isThinking)
		}
		if isThinking(list[len(list)-1]) && len(e.calls) == 0 {
			e.report(ThinkingLast, "")
			return append(list, block{textual, textBlock(e.filler())})
		}
	case OpenAIResponses:
		end := len(list) // of what reasoning may be before
		for end > 0 && list[end-1].kind != textual && list[end-1].kind != calling {
			end--
		}
		if len(e.calls) > 0 || !slices.ContainsFunc(list[end:], isThinking) {
			break
		}
		e.report(ReasoningAlone, "")
		rest := slices.DeleteFunc(slices.Clone(list[end:]), isThinking)
		e.reasoning = e.reasoning[:len(e.reasoning)-(len(list)-end-len(rest))]
		return append(list[:end], rest...)
	}
	return list
}
