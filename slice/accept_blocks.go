package slice

import (
	"bytes"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// blockKind is what a provider makes of a block.
type blockKind int

const (
	gone     blockKind = iota // it is taken out
	silent                    // it stays, but is not sent
	textual                   // it is a text, an image or the like
	thinking                  // it is thinking that is sent
	calling                   // it is a call
	resulting
)

// block is an element of content.
type block struct {
	kind blockKind
	raw  []byte
}

// blocks looks at content that is an array.
func (e *examiner) blocks(arr []byte) {
	var list []block
	before := len(e.found)
	for raw := range pyjson.Elements(arr) {
		b := e.block(raw)
		if b.kind != gone {
			list = append(list, b)
		}
		e.reminder = e.reminder || b.kind == textual && isReminder(members(b.raw, "text")[0])
	}
	if e.role == "user" {
		list = e.resultsFirst(list)
	} else {
		list = e.thinkingOrder(list)
	}
	e.noteCalls(list)
	list = e.nonempty(list)
	if len(e.found) > before || pyjson.KindOf(members(e.line, "content")[0]) == pyjson.Object {
		e.set("content", arrayOf(list))
	}
}

func arrayOf(list []block) []byte {
	parts := make([][]byte, len(list))
	for i, b := range list {
		parts[i] = b.raw
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte(", "))...), ']')
}

// block looks at one element of content. A text is never lost.
func (e *examiner) block(raw []byte) block {
	raw = e.wellFormed(raw)
	if raw == nil {
		return block{}
	}
	switch kind := textOf(members(raw, "type")[0]); kind {
	case "text":
		if e.isBlank(members(raw, "text")[0]) {
			e.report(BlankText, "")
			return block{}
		}
		return block{textual, raw}
	case "tool_result":
		id, _ := resultID(raw)
		return e.of("user", block{resulting, raw}, id)
	case "tool_use", "tool_call":
		id, _ := idOf(members(raw, "id")[0])
		b := e.of("assistant", block{calling, raw}, id)
		if b.kind == calling {
			b.raw = e.call(raw)
		}
		return b
	case "thinking", "redacted_thinking":
		b := e.of("assistant", block{thinking, raw}, "")
		if b.kind == thinking {
			b.kind = e.thinkingBlock(raw, kind)
		}
		return b
	default:
		if e.role == "assistant" && e.provider != Anthropic {
			return block{silent, raw}
		}
		return block{textual, raw}
	}
}

// of returns a block that only messages of that role may hold.
func (e *examiner) of(role string, b block, id string) block {
	if e.role == role {
		return b
	}
	e.report(ForeignBlock, id)
	return block{}
}

// wellFormed returns a block as an object with a type, and a text with a
// text, or nil if nothing can be made of it.
func (e *examiner) wellFormed(raw []byte) []byte {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		e.report(BadBlock, "")
		return textBlock(raw)
	case pyjson.Object:
	default:
		e.report(BadBlock, "")
		return nil
	}
	f := members(raw, "type", "text")
	typed := pyjson.KindOf(f[0]) == pyjson.String
	kind := pyjson.KindOf(f[1])
	switch {
	case typed && (kind == pyjson.String || textOf(f[0]) != "text"):
		return raw
	case kind == pyjson.String:
		e.report(BadBlock, "")
		return pyjson.Splice(raw, "type", []byte(`"text"`))
	case kind == pyjson.Invalid || kind == pyjson.Null:
		e.report(BadBlock, "")
		return nil
	}
	e.report(BadBlock, "")
	return textBlock(pyjson.AppendQuoted(nil, string(f[1]), pyjson.Style{}))
}

func textBlock(text []byte) []byte {
	return append(append([]byte(`{"type": "text", "text": `), text...), '}')
}

// resultsFirst puts the results of a user message first, and notes them.
func (e *examiner) resultsFirst(list []block) []block {
	isResult := func(b block) bool { return b.kind == resulting }
	first := slices.IndexFunc(list, func(b block) bool { return !isResult(b) })
	e.closes = first >= 0
	if first >= 0 && e.adjacent && slices.ContainsFunc(list[first:], isResult) {
		at := first + slices.IndexFunc(list[first:], isResult)
		id, _ := resultID(list[at].raw)
		e.report(ResultNotFirst, id)
		slices.SortStableFunc(list, func(a, b block) int { return int(b.kind/resulting) - int(a.kind/resulting) })
	}
	for i, b := range list {
		if isResult(b) {
			id, _ := resultID(b.raw)
			e.results = append(e.results, sentResult{id, i})
		}
	}
	return list
}

// nonempty adds a text where nothing would be sent.
func (e *examiner) nonempty(list []block) []block {
	sends := func(b block) bool { return b.kind > silent }
	if slices.ContainsFunc(list, sends) || len(e.calls) > 0 || e.mute && e.role == "assistant" {
		return list
	}
	if e.thinks {
		e.report(ThinkingLast, "")
	} else {
		e.report(EmptyContent, "")
	}
	return append(list, block{textual, textBlock(e.filler())})
}
