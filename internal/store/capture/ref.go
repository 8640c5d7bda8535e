package capture

import (
	"bytes"
	"crypto/sha256"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Ref holds the links of an event to a message.
type Ref struct {
	MessageID string   // "" if it names no message
	CallID    string   // of the call of a tool; "" if it names none
	Prompt    [32]byte // SHA-256 of the text that was submitted, if Submits
	Submits   bool     // the event is the submission of a text as a prompt
	Auxiliary bool     // it is about naming or summing up the session, not about its messages
}

// Ref returns the links of the event to a message.
func (e Event) Ref() (r Ref) {
	if e.Data == nil {
		return r
	}
	found := pyjson.Values(e.Data, "tool_call_id", "call_id", "message_id", "prompt")
	r.MessageID, _ = textOf(found[2])
	if call := found[0]; call != nil && pyjson.Truthy(call) {
		r.CallID, _ = textOf(call)
	} else {
		r.CallID, _ = textOf(found[1])
	}
	if e.Name == PromptSubmit {
		r.Prompt, r.Submits = Sum(found[3])
	}
	about := pyjson.Values(e.Data, "purpose", "origin_module")
	r.Auxiliary = isAuxiliary(about[0]) || isAuxiliary(about[1])
	return r
}

// The names of events that this module looks at.
const (
	PromptSubmit = "prompt:submit"
	LLMResponse  = "llm:response"
)

// Sum returns the SHA-256 of the text of a JSON string, in UTF-8 with lone
// surrogates as they are. It returns false for any other value.
func Sum(raw []byte) (sum [32]byte, ok bool) {
	if pyjson.KindOf(raw) != pyjson.String {
		return sum, false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return sha256.Sum256(raw[1 : len(raw)-1]), true
	}
	return sha256.Sum256(pyjson.AppendText(nil, raw)), true
}

// isAuxiliary reports whether the Python text of a value has one of the words in it. A
// value that is no text is searched as it is written in JSON.
func isAuxiliary(raw []byte) bool {
	if raw == nil {
		return false
	}
	text, ok := textOf(raw)
	if !ok {
		plain, err := pyjson.Append(nil, raw, pyjson.Style{})
		if err != nil {
			return false
		}
		text = string(plain)
	}
	// Python's lower case of İ has two characters, and none of the words holds them.
	text = strings.ToLower(strings.ReplaceAll(text, "İ", "i\u0307"))
	for _, word := range [...]string{"naming", "summariz", "summary", "title"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
