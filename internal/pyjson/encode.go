package pyjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode returns v as raw JSON. A [json.RawMessage] is checked as [Tolerant] and copied as it is, so NaN, order and
// number texts stay. Everything else goes through encoding/json, without its escapes for HTML; raw messages inside
// another value must be what encoding/json accepts. The result is always a value that Check accepts.
func Encode(v any) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok || raw == nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("encode value: %w", err)
		}
		raw = bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})
	}
	if err := Check(raw, Tolerant); err != nil {
		return nil, fmt.Errorf("encode value: %w", err)
	}
	if ok {
		raw = bytes.Clone(raw)
	}
	return raw, nil
}
