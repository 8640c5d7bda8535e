package pi

import (
	"cmp"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// kinds are the kinds of entries that have an id: the types, and for messages their roles.
var kinds = map[string]thread.Flags{
	"user":       thread.IsUser | thread.IsPerson | thread.IsPrompt,
	"assistant":  thread.IsAssistant,
	"toolResult": thread.IsUser | thread.HasResults,
	"compaction": thread.IsUser | thread.IsSummary | thread.IsBoundary,

	// What pi sends as a text of the user that no person wrote.
	"bashExecution": thread.IsUser, "custom_message": thread.IsUser, "custom message": thread.IsUser, "branch_summary": thread.IsUser,

	"system": thread.IsLink, "model_change": thread.IsLink | thread.IsNote, "thinking_level_change": thread.IsLink, "usage": thread.IsLink,
	"context_edit": thread.IsLink, "custom": thread.IsLink, "label": thread.IsLink, nameKind: thread.IsLink,
}

// The kinds of the first line, and of the names of a session, of which the last one counts.
const headerKind, nameKind = "session", "session_info"

// tokenNames are the names of the numbers of tokens. The input is without what was cached.
var tokenNames = thread.TokenNames{"input", "output", "cacheRead", "cacheWrite"}

// line is an entry. Its slices share the memory of the line.
type line struct {
	thread.Head
	kind, id, parent string
	entry            []byte
	body             []byte // of a message; else the entry
	content, usage   []byte
	model            string
}

// parse reads a line. The error has no text of it.
func parse(raw []byte) (line, error) {
	raw, err := thread.Object(raw)
	if err != nil {
		return line{}, err
	}
	m := thread.Members(raw, "type", "id", "parentId", "message")
	l := line{Head: thread.HeadOf(raw), kind: thread.Text(m[0]), id: thread.Text(m[1]), parent: thread.Text(m[2]), entry: raw, body: raw}
	if l.kind == "message" {
		l.body = m[3]
		m := thread.Members(l.body, "role", "excludeFromContext")
		switch l.kind = thread.Text(m[0]); {
		case l.kind == "custom" || l.kind == "hookMessage": // its name in the second version
			l.kind = "custom message" // no entry of the type custom, which pi does not send
		case l.kind == "bashExecution" && string(m[1]) == "true": // pi does not send it, for the person said so
			l.kind = "custom"
		}
	}
	m = thread.Members(l.body, "content", "summary", "model", "usage")
	if l.content, l.usage, l.model = m[0], m[3], thread.Text(m[2]); l.content == nil {
		l.content = m[1]
	}
	if m[2] == nil {
		l.model = thread.Text(thread.Members(raw, "modelId")[0])
	}
	return l, nil
}

// says returns a hash of the id, the kind and the content of an entry. When pi opens a file of the first version, it
// gives the entries ids that differ each time: for an entry of pi the time is its id, for one of an export the message
// that it was made of.
func (l line) says() uint64 {
	m, id := thread.Members(l.body, "command", "output"), cmp.Or(l.Mark, l.AtText, l.id)
	return thread.Hash(id+" "+l.kind+" "+l.call()) + 3*thread.Content(l.content) + 5*thread.Content(m[0]) + 7*thread.Content(m[1])
}

// call returns the id of the call that the entry has the result of.
func (l line) call() string { return thread.Text(thread.Members(l.body, "toolCallId")[0]) }

func (l line) ID() string { return l.id }

func (l line) Spent() (model string, used thread.Usage) {
	used.Read(l.usage, &tokenNames)
	return l.model, used
}

// shown returns the texts and images of the content. A command that a person gave to the shell is
// what pi tells the model of it.
func (l line) shown() (p thread.UserParts) {
	if l.kind == "bashExecution" {
		m := thread.Members(l.body, "command", "output")
		p.Ran(thread.Text(m[0]), thread.Text(m[1]))
	}
	p.Said.Say(thread.Text(l.content))
	for b := range pyjson.Elements(l.content) {
		m := thread.Members(b, "type", "text", "data", "mimeType")
		switch kind := thread.Text(m[0]); kind {
		case "text":
			p.Said.Say(thread.Text(m[1]))
		case "image":
			p.Picture(thread.Text(m[3]), thread.Text(m[2]), kind)
		default:
			p.Other = append(p.Other, kind)
		}
	}
	return p
}

func (l line) User() (p thread.UserParts) {
	if l.kind != "toolResult" {
		p = l.shown()
	}
	return p
}

// Prompt returns the text of a line, its blocks joined by a newline.
func (l line) Prompt() string { return strings.Join(l.User().Said, "\n") }

func (l line) Answer() (p thread.AnswerParts) {
	p.Said.Say(thread.Text(l.content))
	for b := range pyjson.Elements(l.content) {
		m := thread.Members(b, "type", "text", "thinking")
		switch kind := thread.Text(m[0]); kind {
		case "text":
			p.Said.Say(thread.Text(m[1]))
		case "thinking":
			p.Thought.Say(thread.Text(m[2]))
		case "toolCall":
			m := thread.Members(b, "id", "name", "arguments")
			p.Call(m[0], m[1], m[2])
		default:
			p.Other = append(p.Other, kind)
		}
	}
	return p
}

// Result: earlier rules put the pictures behind all texts.
func (l line) Result(call uint64, early bool) (p thread.UserParts, found bool) {
	if p = l.shown(); early {
		p.Last()
	}
	return p, l.kind == "toolResult" && thread.Hash(l.call()) == call
}
