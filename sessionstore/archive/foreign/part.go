package foreign

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// part is what a record says.
type part interface {
	id() string // "" where the tool gives none
	time() time.Time
	user() userParts
	answer() answerParts
	prompt() string // the text that a person typed, as a whole

	// result returns the text of the result of a call, and the kinds of its parts
	// that are no text. found is false where there is no such result.
	result(call uint64) (said string, other []string, found bool)

	// spent returns the model that answers, "" where the record names none, and
	// the tokens that it used.
	spent() (model string, used usage)
}

// answerParts are what a record of a response says.
type answerParts struct {
	said, thought []string
	calls         []sessionstore.ToolCall
	other         []string // kinds of parts that have no place
}

func (p *answerParts) say(s string) {
	if strings.TrimSpace(s) != "" {
		p.said = append(p.said, s)
	}
}

func (p *answerParts) think(s string) {
	if strings.TrimSpace(s) != "" {
		p.thought = append(p.thought, s)
	}
}

// userParts are what a record of the user says beside results.
type userParts struct {
	parts []json.RawMessage // images and documents
	said  []string          // texts
	other []string          // kinds of parts that have no place
}

func (p *userParts) say(s string) {
	if strings.TrimSpace(s) != "" {
		p.said = append(p.said, s)
	}
}

// arguments returns the arguments of a call as an object.
func arguments(raw []byte) json.RawMessage {
	switch pyjson.KindOf(raw) {
	case pyjson.Object:
		return json.RawMessage(bytes.Clone(raw))
	case pyjson.Invalid, pyjson.Null:
		return nil
	}
	return json.RawMessage(`{"arguments": ` + string(raw) + `}`)
}

func text(raw []byte) string {
	if pyjson.KindOf(raw) != pyjson.String {
		return ""
	}
	return pyjson.Text(raw)
}

// members returns the values of the members of an object of those names, at most
// four of them.
func members(raw []byte, names ...string) [4][]byte {
	if pyjson.KindOf(raw) != pyjson.Object {
		return [4][]byte{}
	}
	return pyjson.Values(raw, names...)
}

func isTrue(raw []byte) bool { return pyjson.KindOf(raw) == pyjson.True }

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
