package accept

import (
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// blocks examines content that is an array.
func (e *examiner) blocks(arr []byte) {
	var list []block
	before := len(e.found)
	for raw := range pyjson.Elements(arr) {
		b := e.block(raw)
		if b.kind != removed {
			list = append(list, b)
		}
		e.reminder = e.reminder || b.kind == textual && turns.IsReminder(turns.Members(b.raw, "text")[0])
	}
	if e.role == "user" {
		list = e.resultsFirst(list)
	} else {
		list = e.thinkingOrder(list)
	}
	e.noteCalls(list)
	e.paused = e.role == "assistant" && e.provider == Anthropic && len(e.calls) == 0 && len(list) > 0 && ofProvider(list[len(list)-1].raw)
	list = e.nonempty(list)
	if len(e.found) > before || pyjson.KindOf(turns.Members(e.line, "content")[0]) == pyjson.Object {
		e.set("content", arrayOf(list))
	}
}

// block examines one element of content. It never removes text that says
// something.
func (e *examiner) block(raw []byte) block {
	raw = e.wellFormed(raw)
	if raw == nil {
		return block{}
	}
	switch kind := turns.TextOf(turns.Members(raw, "type")[0]); kind {
	case "text":
		if e.isBlank(turns.Members(raw, "text")[0]) {
			e.report(BlankText, "")
			return block{}
		}
		return block{textual, raw}
	case "tool_result":
		id, _ := turns.ResultID(raw)
		if e.limits.InResults {
			raw = e.picturesIn(raw, "content")
		}
		return e.requireRole("user", block{resulting, raw}, id)
	case "tool_use", "tool_call":
		id, _ := turns.IDOf(turns.Members(raw, "id")[0])
		b := e.requireRole("assistant", block{calling, raw}, id)
		if b.kind == calling {
			b.raw = e.call(raw)
		}
		return b
	case "thinking", "redacted_thinking":
		b := e.requireRole("assistant", block{thinking, raw}, "")
		if b.kind == thinking {
			b.kind = e.thinkingBlock(raw, kind)
		}
		return b
	default:
		if e.role == "assistant" && e.provider != Anthropic {
			return block{hidden, raw}
		}
		return block{textual, e.picture(raw)}
	}
}

// requireRole returns b if the message has that role. Otherwise it reports a block of
// another role and returns a block that is gone.
func (e *examiner) requireRole(role string, b block, id string) block {
	if e.role == role {
		return b
	}
	e.report(ForeignBlock, id)
	return block{}
}

// wellFormed returns a block as an object that has a type that a provider takes and,
// if it is a text, a text. It returns nil if it cannot make one of raw.
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
	f := turns.Members(raw, "type", "text")
	typed := pyjson.KindOf(f[0]) == pyjson.String && isTaken(turns.TextOf(f[0]))
	kind := pyjson.KindOf(f[1])
	switch {
	case typed && (kind == pyjson.String || turns.TextOf(f[0]) != "text"):
		return raw
	case kind == pyjson.String:
		e.report(BadBlock, "")
		return pyjson.Splice(raw, "type", []byte(`"text"`))
	case kind == pyjson.Invalid || kind == pyjson.Null:
		e.report(BadBlock, "")
		return nil
	}
	e.report(BadBlock, "")
	return textBlock(pyjson.Quote(string(f[1])))
}

// isTaken reports whether there is a provider, or a server that imitates one, that takes
// blocks of a type, or a module that translates them.
func isTaken(kind string) bool {
	switch kind {
	case "text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "reasoning", "compaction",
		"image", "image_url", "input_image", "document", "file", "input_file", "audio", "audio_url", "input_audio", "video", "video_url", "media",
		"tool_use", "tool_call", "tool_result", "tool_reference", "server_tool_use", "mcp_tool_use", "search_result", "container_upload", "fallback", "mid_conv_system":
		return true
	}
	return strings.HasSuffix(kind, "_tool_result")
}

// ofProvider reports whether a block is the call of a tool that Anthropic runs, or its result.
func ofProvider(raw []byte) bool {
	kind := turns.TextOf(turns.Members(raw, "type")[0])
	return kind == "server_tool_use" || kind == "mcp_tool_use" || goesOn(raw)
}

// goesOn reports whether a block is the result of a tool that Anthropic runs: an answer that it
// begins goes on with the one before.
func goesOn(raw []byte) bool {
	return strings.HasSuffix(turns.TextOf(turns.Members(raw, "type")[0]), "_tool_result")
}

// resultsFirst moves the results of a user message to its beginning if the
// provider wants that, and notes the results.
func (e *examiner) resultsFirst(list []block) []block {
	isResult := func(b block) bool { return b.kind == resulting }
	first := slices.IndexFunc(list, func(b block) bool { return !isResult(b) })
	e.endsWait = first >= 0
	if first >= 0 && e.adjacent && slices.ContainsFunc(list[first:], isResult) {
		at := first + slices.IndexFunc(list[first:], isResult)
		id, _ := turns.ResultID(list[at].raw)
		e.report(ResultNotFirst, id)
		slices.SortStableFunc(list, func(a, b block) int { return int(b.kind/resulting) - int(a.kind/resulting) })
	}
	for i, b := range list {
		if isResult(b) {
			id, _ := turns.ResultID(b.raw)
			e.results = append(e.results, sentResult{id, i})
		}
	}
	return list
}

// nonempty adds a text if nothing of the message would be sent.
func (e *examiner) nonempty(list []block) []block {
	sends := func(b block) bool { return b.kind > hidden }
	if slices.ContainsFunc(list, sends) || len(e.calls) > 0 || e.allowsEmpty && e.role == "assistant" {
		return list
	}
	if e.hasThinking {
		e.report(ThinkingLast, "")
	} else {
		e.report(EmptyContent, "")
	}
	return append(list, block{textual, textBlock(e.filler())})
}
