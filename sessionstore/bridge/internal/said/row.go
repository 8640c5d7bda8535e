package said

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// row is the answer of a model as it is stored.
type row struct {
	Role      string                     `json:"role"`
	Content   []block                    `json:"content"`
	ToolCalls []listedCall               `json:"tool_calls,omitempty"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}

type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Content   []string        `json:"content,omitempty"` // OpenAI's: encrypted, id
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Source    *source         `json:"source,omitempty"`
}

type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

type listedCall struct {
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Signature string          `json:"signature,omitempty"`
}

// Row returns the message that stores the answer of a model, made at a time. answer is the
// JSON of its pieces, and wire that of the pieces that are sent back: a provider may want a
// text in the pieces in which it came. Members that are null are kept.
func (f *Format) Row(answer, wire []json.RawMessage, model string, at time.Time) (sessionstore.Message, error) {
	r := row{Role: "assistant", Content: []block{}, Metadata: map[string]json.RawMessage{
		"timestamp": pyjson.Quote(pytime.FormatMillis(at)), "provider": pyjson.Quote(f.Name), "model": pyjson.Quote(model),
	}}
	blocks := f.readAll(answer)
	var again []any
	for i := range blocks {
		b := &blocks[i]
		if b.Kind == Call {
			complete(b)
			r.ToolCalls = append(r.ToolCalls, listedCall{b.ID, b.Name, b.Args, b.Sign})
		}
		if one, says := b.stored(); says {
			r.Content = append(r.Content, one)
			for _, piece := range f.pieces("assistant", *b, func(string) {}) {
				again = append(again, piece)
			}
		}
	}
	whole, err := json.Marshal(wire)
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of %s: it is not JSON", f.Name)
	}
	if made, err := json.Marshal(again); err != nil || !sameJSON(made, whole) {
		r.Metadata[f.Name], _ = json.Marshal(map[string]json.RawMessage{"wire_content": whole})
	}
	raw, err := pyjson.Encode(r)
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of %s: %w", f.Name, err)
	}
	line, err := pyjson.Append(nil, raw, pyjson.Style{Finite: true, Replace: true, Portable: true, MaxDepth: 500})
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of %s: %w: %w", f.Name, sessionstore.ErrUnstorable, err)
	}
	return sessionstore.ParseMessage(line)
}

// complete gives a call what it lacks: an id, which Gemini may leave to the program, and,
// where the answer was cut off in them, an object for its arguments.
func complete(b *Block) {
	if b.ID == "" {
		b.ID = "gemini_call_" + strings.ReplaceAll(sessionstore.NewID(), "-", "")[:12]
	}
	if pyjson.KindOf(b.Args) != pyjson.Object {
		b.Args, _ = json.Marshal(map[string]json.RawMessage{"arguments": b.Args})
	}
}

// stored returns the block as it is stored, and false where only the provider knows it.
func (b Block) stored() (block, bool) {
	switch b.Kind {
	case Text:
		return block{Type: "text", Text: &b.Text, Signature: b.Sign}, b.Text != ""
	case Thinking:
		if b.Redacted != "" {
			return block{Type: "redacted_thinking", Data: b.Redacted}, true
		}
		one := block{Type: "thinking", Thinking: &b.Text, Signature: b.Sign}
		if b.Item != "" {
			one.Content = []string{b.Sealed, b.Item}
		}
		return one, true
	case Call:
		return block{Type: "tool_call", ID: b.ID, Name: b.Name, Input: b.Args, Signature: b.Sign}, true
	case File:
		one := block{Type: "document", Source: &source{"base64", b.File.Media, b.File.Data}}
		if b.File.Image {
			one.Type = "image"
		}
		return one, b.File.Data != ""
	}
	return block{}, false
}

// Tokens are the tokens of a response. Input counts those from the cache, too.
type Tokens struct{ Input, Output, CacheRead, CacheWrite, Reasoning int64 }

// Event returns the event of a response, in the form of the Python tools.
func (f *Format) Event(id, model string, t Tokens, took time.Duration) eventslog.Event {
	return eventslog.Event{Name: "llm:response", Data: map[string]any{
		"provider": f.Name, "model": model, "response_id": id, "status": "ok", "duration_ms": took.Milliseconds(),
		"usage": map[string]int64{
			"input_tokens": t.Input, "output_tokens": t.Output, "cache_read_tokens": t.CacheRead,
			"cache_write_tokens": t.CacheWrite, "reasoning_tokens": t.Reasoning,
		},
	}}
}
