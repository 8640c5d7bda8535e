package accept

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// examine returns the part of a message that is sent, the faults for which a provider would
// refuse it, and its line with these mended. seen are the ids of the reasoning items in
// earlier messages.
func (r rules) examine(m sessionstore.Message, line []byte, seen map[string]bool) (s sent, found []finding, mended []byte) {
	return (&examiner{rules: r, seen: seen, role: m.Role(), line: pyjson.TrimSpace(line)}).examine()
}

func (e *examiner) examine() (s sent, found []finding, mended []byte) {
	if e.role == "system" || e.role == "developer" {
		return sent{}, nil, nil
	}
	for _, part := range turns.Members(e.line, "content", "tool_calls", "thinking_block") {
		e.bytes += len(part)
	}
	e.pairs()
	switch e.role {
	case "tool":
		id, _ := turns.IDOf(turns.Members(e.line, "tool_call_id")[0])
		if e.limits.InResults {
			e.line = pyjson.TrimSpace(e.picturesIn(e.line, "content"))
		}
		e.side, e.results = answers, []sentResult{{id, -1}}
	case "assistant":
		e.side = assistant
		e.endsWait = true
		e.listedCalls()
		e.thinkingMember()
		e.content()
	case "user":
		e.user()
	default:
		e.report(UnknownRole, "")
		e.role = "user"
		e.set("role", []byte(`"user"`))
		e.user()
	}
	return e.sent, e.found, e.line
}

// pairs examines the texts of the message for halves of surrogate pairs, which no
// provider takes. Ids and arguments are examined with the calls.
func (e *examiner) pairs() {
	f := turns.Members(e.line, "content", "thinking_block")
	if _, had := pyjson.Paired(f[1]); had && e.role == "assistant" && e.provider == Anthropic {
		e.report(BrokenThinking, "")
		e.line = pyjson.TrimSpace(pyjson.Remove(e.line, "thinking_block"))
	}
	content, had := pyjson.Paired(f[0])
	switch {
	case !had:
	case pyjson.KindOf(content) != pyjson.Array:
		e.report(BadContent, "")
		e.set("content", content)
	default:
		var list []block
		before := len(e.found)
		for raw := range pyjson.Elements(f[0]) {
			if raw = e.pairedBlock(raw); raw != nil {
				list = append(list, block{textual, raw})
			}
		}
		if len(e.found) > before {
			e.set("content", arrayOf(list))
		}
	}
}

// pairedBlock returns an element of content without halves of surrogate pairs in its texts.
// It drops thinking with such a half: the signature is for another text.
func (e *examiner) pairedBlock(raw []byte) []byte {
	f := turns.Members(raw, "type", "content")
	switch turns.TextOf(f[0]) {
	case "tool_use", "tool_call":
		return raw
	case "tool_result":
		if content, had := pyjson.Paired(f[1]); had {
			e.report(BadBlock, "")
			return pyjson.Splice(raw, "content", content)
		}
		return raw
	case "thinking", "redacted_thinking":
		if _, had := pyjson.Paired(raw); had {
			e.report(BrokenThinking, "")
			return nil
		}
		return raw
	}
	paired, had := pyjson.Paired(raw)
	if had {
		e.report(BadBlock, "")
	}
	return paired
}

func (e *examiner) user() {
	e.content()
	pure := len(e.results) > 0 && !e.endsWait
	e.endsWait = !pure
	switch {
	case pure:
		e.rest = unsent
	case e.reminder || turns.Members(e.line, "tool_call_id")[0] != nil:
		e.rest = injected
	default:
		e.rest = prompt
	}
	e.side = e.rest
	if len(e.results) > 0 {
		e.side = answers
	}
}

// content examines the member content.
func (e *examiner) content() {
	raw := turns.Members(e.line, "content")[0]
	switch pyjson.KindOf(raw) {
	case pyjson.Array:
		e.blocks(raw)
	case pyjson.String, pyjson.Null, pyjson.Invalid:
		e.text(raw)
	case pyjson.Object:
		e.report(BadContent, "")
		e.blocks(append(append([]byte{'['}, raw...), ']'))
	default:
		e.report(BadContent, "")
		raw = pyjson.Quote(string(raw))
		e.set("content", raw)
		e.text(raw)
	}
}

// text examines content that is a text, null, or missing.
func (e *examiner) text(raw []byte) {
	is := pyjson.KindOf(raw) == pyjson.String
	e.reminder = is && turns.IsReminder(raw)
	switch {
	case is && !e.isBlank(raw):
	case e.role != "assistant":
		e.report(EmptyContent, "")
		e.set("content", e.filler())
	case len(e.calls) > 0:
		if is && len(raw) > len(`""`) {
			e.report(BlankText, "")
			e.set("content", []byte(`""`))
		}
	case e.hasThinking:
		e.report(ThinkingLast, "")
		e.set("content", e.filler())
	case !e.allowsEmpty:
		e.report(EmptyContent, "")
		e.set("content", e.filler())
	}
}
