package said

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Row returns the message that stores the answer of a model, made at a time: the JSON of the
// pieces of each response of a stream, or of the one response. Members that are null are
// kept.
func (f *Format) Row(answer [][]json.RawMessage, model string, at time.Time) (sessionstore.Message, error) {
	var wire []json.RawMessage
	var blocks []Block
	for _, pieces := range answer {
		wire = append(wire, pieces...)
		blocks = join(blocks, f.readAll(pieces))
	}
	metadata := object{"timestamp": pytime.FormatMillis(at), "provider": f.Name, "model": model}
	content, calls, again := []any{}, []object{}, []any{}
	for _, b := range blocks {
		if b.Kind == Call {
			if pyjson.KindOf(b.Args) != pyjson.Object { // the answer was cut off in them
				b.Args = slices.Concat([]byte(`{"arguments": `), b.Args, []byte("}"))
			}
			calls = append(calls, signed(object{"id": b.ID, "tool": b.Name, "arguments": b.Args}, b))
		}
		if block := b.stored(); block != nil {
			content = append(content, signed(block, b))
		} else if b.known() {
			content = append(content, b.Raw)
		} else {
			continue
		}
		again = append(again, f.pieces("assistant", b, func(string) {})...)
	}
	whole, err := json.Marshal(wire)
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of %s: it is not JSON", f.Name)
	}
	if made, err := json.Marshal(again); err != nil || !sameJSON(made, whole) {
		metadata[f.Name] = object{"wire_content": wire}
	}
	raw, err := pyjson.Encode(struct {
		Role      string   `json:"role"`
		Content   []any    `json:"content"`
		ToolCalls []object `json:"tool_calls,omitempty"`
		Metadata  object   `json:"metadata"`
	}{"assistant", content, calls, metadata})
	if err == nil {
		raw, err = pyjson.Append(nil, raw, pyjson.Style{Finite: true, Replace: true, Portable: true, MaxDepth: 500})
	}
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of %s: %w: %w", f.Name, sessionstore.ErrUnstorable, err)
	}
	return sessionstore.ParseMessage(raw)
}

// stored returns the block as it is stored, nil where only the provider knows it.
func (b Block) stored() object {
	switch {
	case b.Kind == Text && b.Text != "":
		return object{"type": "text", "text": b.Text}
	case b.Kind == Thinking && b.Redacted != "":
		return object{"type": "redacted_thinking", "data": b.Redacted}
	case b.Kind == Thinking && b.Item != "":
		return object{"type": "thinking", "thinking": b.Text, "content": []string{b.Sealed, b.Item}}
	case b.Kind == Thinking:
		return object{"type": "thinking", "thinking": b.Text}
	case b.Kind == Call:
		return object{"type": "tool_call", "id": b.ID, "name": b.Name, "input": b.Args}
	case b.Kind == File && b.File.Data != "":
		kind := map[bool]string{true: "image", false: "document"}[b.File.Image]
		return object{"type": kind, "source": object{"type": "base64", "media_type": b.File.Media, "data": b.File.Data}}
	}
	return nil
}

// signed returns what is stored of a block with the block's signature.
func signed(o object, b Block) object {
	if b.Sign != "" {
		o["signature"] = b.Sign
	}
	return o
}

// Tokens are the tokens of a response. Input counts those from the cache, too.
type Tokens struct{ Input, Output, CacheRead, CacheWrite, Reasoning int64 }

// Event returns the event of a response, in the form of the Python tools.
func (f *Format) Event(id, model string, t Tokens, took time.Duration) eventslog.Event {
	return eventslog.Event{Name: "llm:response", Data: object{
		"provider": f.Name, "model": model, "response_id": id, "status": "ok", "duration_ms": took.Milliseconds(),
		"usage": map[string]int64{
			"input_tokens": t.Input, "output_tokens": t.Output, "cache_read_tokens": t.CacheRead,
			"cache_write_tokens": t.CacheWrite, "reasoning_tokens": t.Reasoning,
		},
	}}
}
