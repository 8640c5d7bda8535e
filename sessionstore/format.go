package sessionstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// FormatJSON returns v as the Amplifier tools print JSON, byte for byte as
// Python's json.dumps(v, indent=indent) writes it: each level indented by so many
// spaces, or all in one line where indent is 0 or less, and what is not ASCII as
// \u escapes. There is no line break at the end.
//
// v is what encoding/json can encode, or a json.RawMessage in Python's dialect:
// what [Metadata.Lookup], [Message.Lookup] and AppendTo return. Of that, members
// keep their order, integers all of their digits, and NaN and infinities stay; of
// members with one name the last counts, at the place of the first.
//
// It fails when encoding/json cannot encode v, and when a json.RawMessage is not
// one JSON value. The error tells the place of a fault, and never content.
func FormatJSON(v any, indent int) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok || raw == nil {
		var err error
		if raw, err = pyjson.Encode(v); err != nil {
			return nil, fmt.Errorf("format JSON: %w", err)
		}
	}
	text, err := pyjson.Append(nil, raw, pyjson.Style{Indent: max(indent, 0), ASCII: true})
	if err != nil {
		return nil, fmt.Errorf("format JSON: %w", err)
	}
	return text, nil
}

// StoredText returns text as it stands in a string of a transcript, without its
// quotes: for [Query.Keyword], where a person looks for what was said. It fails
// when a message could not hold the text.
func StoredText(text string) (string, error) {
	m, err := Text("user", text, time.Time{})
	if err != nil {
		return "", err
	}
	raw, _ := m.Lookup("content")
	return strings.TrimSuffix(strings.TrimPrefix(string(raw), `"`), `"`), nil
}
