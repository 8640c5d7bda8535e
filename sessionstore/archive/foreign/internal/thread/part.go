package thread

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Part is the content of a record.
type Part interface {
	ID() string                        // "" where the tool gives none
	Time() (at time.Time, text string) // as the file has it
	User() UserParts
	Answer() AnswerParts
	Prompt() string // the text that a person typed, as a whole

	// Result returns the texts and pictures of the result of a call, also texts that are blank,
	// and NotText for each other part. found is false where there is no such result. early asks
	// for the result as earlier rules made it, see Render.
	Result(call uint64, early bool) (p UserParts, found bool)

	// Spent returns the model that answers, "" where the record names none, and
	// the tokens that it used.
	Spent() (model string, used Usage)
}

// AnswerParts are the contents of a record of a response.
type AnswerParts struct {
	Said, Thought Texts
	Calls         []sessionstore.ToolCall
	Other         []string // kinds of parts that have no place
}

// Call adds a call, of JSON values.
func (p *AnswerParts) Call(id, name, arguments []byte) {
	p.Calls = append(p.Calls, sessionstore.ToolCall{ID: Text(id), Name: Text(name), Arguments: Arguments(arguments)})
}

// Texts are texts that are not blank.
type Texts []string

// Say adds a text, unless it is blank.
func (t *Texts) Say(s string) {
	if strings.TrimSpace(s) != "" {
		*t = append(*t, s)
	}
}

// Head is what the lines of all tools have: a time, and the marks of an export.
type Head struct {
	At         time.Time
	AtText     string // as the line has it
	Mark, Seal string // see ExportMember and SealMember
}

// HeadOf returns the head of a line.
func HeadOf(raw []byte) (h Head) {
	m := Members(raw, "timestamp", ExportMember, SealMember)
	h.AtText, h.Mark, h.Seal = Text(m[0]), Text(m[1]), Text(m[2])
	h.At, _, _ = pytime.Parse(h.AtText)
	return h
}

// Time is a method of [Part].
func (h Head) Time() (time.Time, string) { return h.At, h.AtText }

// UserParts are the contents of a record of the user without results, or of a result.
type UserParts struct {
	Parts []json.RawMessage // images and documents
	Said  Texts
	ahead []int    // for each of the parts: how many texts are ahead of it
	Other []string // kinds of parts that have no place
}

// Show adds an image or a document.
func (p *UserParts) Show(block json.RawMessage) {
	p.Parts, p.ahead = append(p.Parts, block), append(p.ahead, len(p.Said))
}

// Picture adds an image in base64. What is none goes by its kind into Other.
func (p *UserParts) Picture(media, data, kind string) {
	if data == "" || !strings.HasPrefix(media, "image/") {
		p.Other = append(p.Other, kind)
		return
	}
	p.Show(ImageBlock(media, data))
}

// Ran adds a command that a person gave to the shell, as the tools tell the model of it.
func (p *UserParts) Ran(command, output string) {
	p.Said.Say("Ran `" + command + "`\n```\n" + output + "\n```")
}

// Last puts the parts behind all texts.
func (p *UserParts) Last() {
	for i := range p.ahead {
		p.ahead[i] = len(p.Said)
	}
}

// join adds the texts and parts of a prompt behind these.
func (p *UserParts) join(next UserParts) {
	for i, n := range next.ahead {
		p.Parts, p.ahead = append(p.Parts, next.Parts[i]), append(p.ahead, len(p.Said)+n)
	}
	p.Said = append(p.Said, next.Said...)
}

// Leave adds a text for a part of a result that has no place.
func (p *UserParts) Leave(kind string) {
	p.Said, p.Other = append(p.Said, NotText), append(p.Other, kind)
}

// blocks returns the texts and parts in their order. Texts that follow each other are one
// block, unless they are blank.
func (p *UserParts) blocks(between string) (all []json.RawMessage) {
	said := 0
	say := func(to int) {
		if text := strings.Join(p.Said[said:to], between); strings.TrimSpace(text) != "" {
			all = append(all, TextBlock(text))
		}
		said = to
	}
	for i, part := range p.Parts {
		say(p.ahead[i])
		all = append(all, part)
	}
	say(len(p.Said))
	return all
}

// TextBlock returns a block of a text.
func TextBlock(s string) json.RawMessage {
	row := pyjson.AppendQuoted([]byte(`{"type": "text", "text": `), s, pyjson.Style{Replace: true})
	return append(row, '}')
}

// ImageBlock returns the block of an image in base64.
func ImageBlock(media, data string) json.RawMessage {
	s := pyjson.Style{Replace: true}
	row := pyjson.AppendQuoted([]byte(`{"type": "image", "source": {"type": "base64", "media_type": `), media, s)
	row = pyjson.AppendQuoted(append(row, `, "data": `...), data, s)
	return append(row, "}}"...)
}

// Arguments returns the arguments of a call as an object.
func Arguments(raw []byte) json.RawMessage {
	switch pyjson.KindOf(raw) {
	case pyjson.Object:
		return json.RawMessage(bytes.Clone(raw))
	case pyjson.Invalid, pyjson.Null:
		return nil
	}
	return json.RawMessage(`{"arguments": ` + string(raw) + `}`)
}

// Input returns the arguments of a call as the object that a tool takes: other values as
// [Arguments] has them, and what is no JSON as a text.
func Input(arguments []byte) json.RawMessage {
	raw := pyjson.TrimSpace(arguments)
	if len(raw) > 0 && !json.Valid(raw) {
		raw = pyjson.AppendQuoted(nil, string(arguments), pyjson.Style{Replace: true})
	}
	if o := Arguments(raw); o != nil {
		return o
	}
	return json.RawMessage("{}")
}

// Text returns a JSON string, and "" for another value.
func Text(raw []byte) string {
	if pyjson.KindOf(raw) != pyjson.String {
		return ""
	}
	return pyjson.Text(raw)
}

// Members returns the values of the members of an object of those names, at most
// four of them.
func Members(raw []byte, names ...string) [4][]byte {
	if pyjson.KindOf(raw) != pyjson.Object {
		return [4][]byte{}
	}
	return pyjson.Values(raw, names...)
}

// IsTrue reports whether a JSON value is true.
func IsTrue(raw []byte) bool { return pyjson.KindOf(raw) == pyjson.True }

// Object returns the JSON object in a line, without space around it and without the byte order
// mark that an editor put before the file. The error has no text of it.
func Object(line []byte) ([]byte, error) {
	raw := pyjson.TrimSpace(bytes.TrimPrefix(pyjson.TrimSpace(line), []byte("\ufeff")))
	if len(raw) == 0 {
		return nil, errBlank
	}
	if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
		return nil, err
	}
	if pyjson.KindOf(raw) != pyjson.Object {
		return nil, errNoObject
	}
	return raw, nil
}

// Set returns a set of names.
func Set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// Usage is the usage of the responses of a model, in tokens.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// Spending is the usage of the responses of a session in its tool.
type Spending struct {
	Responses int `json:"responses"`
	Usage
}

// Read takes the numbers of an object.
func (u *Usage) Read(raw []byte, names *TokenNames) {
	if pyjson.KindOf(raw) != pyjson.Object {
		return
	}
	m := pyjson.Values(raw, names[:]...)
	*u = Usage{Tokens(m[0]), Tokens(m[1]), Tokens(m[2]), Tokens(m[3])}
}

// TokenNames are the names that a tool has for the numbers of a [Usage], in their order.
type TokenNames [4]string

func (u *Usage) add(v Usage) {
	*u = Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Most makes u the larger of both, number by number.
func (u *Usage) Most(v Usage) {
	*u = Usage{max(u.Input, v.Input), max(u.Output, v.Output), max(u.CacheRead, v.CacheRead), max(u.CacheWrite, v.CacheWrite)}
}

// Tokens returns a number of tokens, 0 where it makes no sense.
func Tokens(raw []byte) int64 {
	if v, ok := pyjson.Int(raw); ok && v > 0 && v < 1<<40 {
		return v
	}
	return 0
}

// Used is the usage of a response.
type Used struct {
	ID    uint64 // see claude.line.responseHash
	Model string
	Usage Usage
}

// AddTo adds a response to the usage of its model.
func (u Used) AddTo(all map[string]*Spending) {
	if all[u.Model] == nil {
		all[u.Model] = &Spending{}
	}
	all[u.Model].Responses++
	all[u.Model].add(u.Usage)
}

// UnknownModel replaces a model that the file does not name.
const UnknownModel = "unknown"
