package foreign

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func (l claudeLine) id() string      { return l.uuid }
func (l claudeLine) time() time.Time { return l.at }

func (l claudeLine) spent() (model string, used usage) {
	if l.model != "<synthetic>" {
		model = l.model
	}
	used.raise(l.usage)
	return model, used
}

func (l claudeLine) answer() (p answerParts) {
	if pyjson.KindOf(l.content) == pyjson.String {
		p.say(pyjson.Text(l.content))
		return p
	}
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "text", "thinking", "input")
		switch kind := text(m[0]); kind {
		case "text":
			p.say(text(m[1]))
		case "thinking":
			p.think(text(m[2]))
		case "tool_use":
			n := pyjson.Values(block, "id", "name")
			p.calls = append(p.calls, sessionstore.ToolCall{ID: text(n[0]), Name: text(n[1]), Arguments: arguments(m[3])})
		default:
			p.other = append(p.other, kind)
		}
	}
	return p
}

func (l claudeLine) user() (p userParts) {
	if pyjson.KindOf(l.content) == pyjson.String {
		p.say(pyjson.Text(l.content))
		return p
	}
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "text")
		switch kind := text(m[0]); kind {
		case "text":
			p.say(text(m[1]))
		case "image", "document":
			p.parts = append(p.parts, json.RawMessage(bytes.Clone(block)))
		case "tool_result":
		default:
			p.other = append(p.other, kind)
		}
	}
	p.say(l.queuedText())
	return p
}

// texts yields the texts of the content.
func (l claudeLine) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if pyjson.KindOf(l.content) == pyjson.String {
			yield(pyjson.Text(l.content))
			return
		}
		for block := range pyjson.Elements(l.content) {
			if m := members(block, "type", "text"); text(m[0]) == "text" && !yield(text(m[1])) {
				return
			}
		}
	}
}

// prompt returns the text of a line, its blocks joined by a newline.
func (l claudeLine) prompt() string { return strings.Join(slices.Collect(l.texts()), "\n") }

// typed reports whether one of the texts is not the tool's: newer versions say so,
// and else texts of the tool begin with a tag or tell of an unknown command. What an
// editor adds stands in a block of its own before the text that was typed.
func (l claudeLine) typed() bool {
	for s := range l.texts() {
		if strings.TrimSpace(s) != "" && (l.human || !byTool.MatchString(s) && !unknownCommand.MatchString(s)) {
			return true
		}
	}
	return false
}

// queued returns the prompt that an attachment holds, which was typed while the
// model worked, "" where it holds none. The tool queues its own notes as well.
func (l claudeLine) queued() string {
	m := members(l.attach, "commandMode", "isMeta", "prompt")
	mode := text(m[0])
	if mode != "" && mode != "prompt" || isTrue(m[1]) || !(claudeLine{content: m[2]}).typed() {
		return ""
	}
	return l.queuedText()
}

// queuedText returns what an attachment holds that was queued, also by the tool.
func (l claudeLine) queuedText() string {
	m := members(l.attach, "type", "prompt")
	if text(m[0]) != "queued_command" {
		return ""
	}
	return claudeLine{content: m[1]}.prompt()
}

func (l claudeLine) result(call uint64) (said string, other []string, found bool) {
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "tool_use_id", "content")
		if text(m[0]) != "tool_result" || hash(text(m[1])) != call {
			continue
		}
		if pyjson.KindOf(m[2]) == pyjson.String {
			return pyjson.Text(m[2]), nil, true
		}
		var said []string
		for part := range pyjson.Elements(m[2]) {
			n := pyjson.Values(part, "type", "text")
			if text(n[0]) == "text" {
				said = append(said, text(n[1]))
				continue
			}
			said, other = append(said, notText), append(other, text(n[0]))
		}
		return strings.Join(said, "\n"), other, true
	}
	return "", nil, false
}
