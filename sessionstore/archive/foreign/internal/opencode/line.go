package opencode

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// tokenNames are the names of the numbers of tokens as they are in usage. The input is without
// cached tokens.
var tokenNames = thread.TokenNames{"input", "output", "read", "write"}

// Members of the metadata of a part, in which an export marks its message, and the message of the result
// of a call.
const (
	markMember   = "amplifier"
	resultMember = "amplifier_result"
)

// line is a line of a session. Its slices share the memory of the line.
type line struct {
	thread.Head
	kind, id string
	data     []byte // of a message
	parts    []part
	call     string // of a result
	state    []byte // of a result, and what opencode knows of the call
	metadata []byte // of a result

	synthetic bool // of the two records of a prompt this is the one with what opencode wrote
}

// part is a part of a message.
type part struct {
	kind, id  string
	data      []byte
	synthetic bool // opencode wrote it
}

// errRow is the fault of the row of a message that is no JSON object, or longer than
// 64 MiB.
var errRow = errors.New("the row of a message is damaged, or longer than 64 MiB")

// parse reads a line. The error has no text of it.
func parse(raw []byte) (l line, err error) {
	if raw, err = thread.Object(raw); err != nil {
		return l, err
	}
	m := thread.Members(raw, "type", "id", "time", "data")
	l.kind, l.id, l.data = thread.Text(m[0]), thread.Text(m[1]), m[3]
	if ms, ok := pyjson.Int(m[2]); ok && ms > 0 && ms < 1<<50 {
		l.At = time.UnixMilli(ms).UTC()
		l.AtText = thread.Stamp(l.At)
	}
	switch l.kind {
	case "message":
		l.kind = thread.Text(thread.Members(l.data, "role")[0])
		if l.kind == "" {
			return l, errRow
		}
		for p := range pyjson.Elements(thread.Members(raw, "parts")[0]) {
			m := thread.Members(p, "id", "data")
			d := thread.Members(m[1], "type", "synthetic", "metadata")
			l.parts = append(l.parts, part{thread.Text(d[0]), thread.Text(m[0]), m[1], thread.IsTrue(d[1])})
			if l.Mark == "" {
				l.Mark, l.Seal = markIn(d[2])
			}
		}
	case "revert":
		l.id = thread.Text(thread.Members(raw, "message")[0])
	case "result":
		m := thread.Members(raw, "call", "state", "metadata")
		l.call, l.state, l.metadata = thread.Text(m[0]), m[1], m[2]
		l.Mark, l.Seal = markIn(m[2])
	}
	return l, nil
}

// markIn returns the mark of an export in metadata, and its seal.
func markIn(metadata []byte) (mark, seal string) {
	m := thread.Members(thread.Members(metadata, markMember)[0], "mark", "seal")
	return thread.Text(m[0]), thread.Text(m[1])
}

// isOpen reports whether opencode may still write an answer.
func (l line) isOpen() bool {
	m := thread.Members(l.data, "time", "error")
	return l.kind == "assistant" && m[1] == nil && thread.Members(m[0], "completed")[0] == nil
}

// says returns a hash of the id, the role and the content of a line. The mark of an export replaces
// the id.
func (l line) says() uint64 {
	sum := thread.Hash(cmp.Or(l.Mark, l.id) + " " + l.kind)
	if l.kind == "result" {
		m := thread.Members(l.state, "output", "error", "attachments")
		sum = thread.Hash(l.kind+" "+l.call) + 3*thread.Content(m[0]) + 5*thread.Content(m[1])
		for f := range pyjson.Elements(m[2]) {
			sum = sum*31 + thread.Content(pictureOf(f))
		}
	}
	for _, p := range l.parts {
		m := thread.Members(p.data, "text", "callID", "tool", "url")
		sum = sum*31 + thread.Hash(p.kind) + 3*thread.Content(m[0]) + 5*thread.Content(m[1]) + 7*thread.Content(m[2]) + 11*thread.Content(m[3])
		if p.kind == "tool" {
			sum += 13 * thread.Content(thread.Members(thread.Members(p.data, "state")[0], "input")[0])
		}
	}
	return sum
}

func (l line) ID() string { return l.id }

// usage returns the numbers of tokens of an answer, under tokenNames. Thoughts are
// output.
func (l line) usage() []byte {
	m := thread.Members(thread.Members(l.data, "tokens")[0], "input", "output", "reasoning", "cache")
	if m[0] == nil && m[1] == nil {
		return nil
	}
	cache := thread.Members(m[3], tokenNames[2:]...)
	raw, _ := pyjson.Encode(map[string]int64{
		tokenNames[0]: thread.Tokens(m[0]), tokenNames[1]: thread.Tokens(m[1]) + thread.Tokens(m[2]), tokenNames[2]: thread.Tokens(cache[0]), tokenNames[3]: thread.Tokens(cache[1]),
	})
	return raw
}

func (l line) model() string { return thread.Text(thread.Members(l.data, "modelID")[0]) }

func (l line) Spent() (model string, used thread.Usage) {
	used.Read(l.usage(), &tokenNames)
	return l.model(), used
}

// User returns the texts and files of a person, or of opencode beside them or without any, or the
// text of a summary.
func (l line) User() thread.UserParts {
	p := l.said(l.synthetic)
	if l.kind == "user" && len(p.Said)+len(p.Parts)+len(p.Other) == 0 {
		return l.said(true)
	}
	return p
}

// said returns the texts and files of a person, or those that opencode wrote.
func (l line) said(synthetic bool) (p thread.UserParts) {
	for _, part := range l.parts {
		m := thread.Members(part.data, "text", "ignored", "url")
		switch {
		case l.kind == "assistant" && part.kind != "text" || part.synthetic != synthetic:
		case part.kind == "text" && !thread.IsTrue(m[1]):
			p.Said.Say(thread.Text(m[0]))
		case part.kind == "file" && !strings.HasPrefix(thread.Text(m[2]), "file:"): // which opencode reads into a text
			show(&p, part.data)
		case part.kind == "subtask":
			p.Said.Say(thread.Text(thread.Members(part.data, "prompt")[0]))
		case part.kind != "text" && part.kind != "file" && part.kind != "agent" && part.kind != "compaction":
			p.Other = append(p.Other, part.kind)
		}
	}
	return p
}

// pictureOf returns the block of a file that is a picture, nil for another one.
func pictureOf(file []byte) json.RawMessage {
	m := thread.Members(file, "mime", "url")
	media := thread.Text(m[0])
	head, encoded, found := strings.Cut(thread.Text(m[1]), ";base64,")
	if !found || encoded == "" || !strings.HasPrefix(media, "image/") || !strings.HasPrefix(head, "data:") {
		return nil
	}
	return thread.ImageBlock(media, encoded)
}

// show adds a file: a picture, or the name of another one.
func show(p *thread.UserParts, file []byte) {
	if picture := pictureOf(file); picture != nil {
		p.Show(picture)
	} else {
		p.Other = append(p.Other, "file")
	}
}

// Prompt returns the texts that a person wrote, joined by a newline.
func (l line) Prompt() string { return strings.Join(l.User().Said, "\n") }

func (l line) Answer() (p thread.AnswerParts) {
	for _, part := range l.parts {
		m := thread.Members(part.data, "text", "callID", "tool", "state")
		switch part.kind {
		case "text":
			p.Said.Say(thread.Text(m[0]))
		case "reasoning":
			p.Thought.Say(thread.Text(m[0]))
		case "tool":
			p.Call(m[1], m[2], thread.Members(m[3], "input")[0])
		case "step-start", "step-finish", "snapshot", "patch", "retry": // how the work went
		default:
			p.Other = append(p.Other, part.kind)
		}
	}
	return p
}

func (l line) Result(call uint64, _ bool) (p thread.UserParts, found bool) {
	m := thread.Members(l.state, "output", "error", "attachments")
	p.Said = thread.Texts{cmp.Or(thread.Text(m[0]), thread.Text(m[1]))}
	for f := range pyjson.Elements(m[2]) {
		show(&p, f)
	}
	return p, thread.Hash(l.call) == call
}
