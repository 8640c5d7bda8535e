package said

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Read returns what a message says, in the order in which a provider gets it: calls that
// only tool_calls has come last.
func Read(m sessionstore.Message) []Block {
	row := m.AppendTo(nil)
	content := member(row, "content")
	if m.Role() == "tool" {
		return []Block{{
			Kind: Result, ID: m.ToolCallID(), Name: text(row, "name"),
			Failed: pyjson.Truthy(member(row, "is_error")), Content: contentOf(content),
		}}
	}
	blocks := contentOf(content)
	if m.Role() != "assistant" {
		return blocks
	}
	if thinks := func(b Block) bool { return b.Kind == Thinking }; !slices.ContainsFunc(blocks, thinks) {
		if raw := member(row, "thinking_block"); pyjson.KindOf(raw) == pyjson.Object {
			blocks = slices.Insert(blocks, 0, blockOf(raw))
		} else if thought := text(row, "thinking_text"); thought != "" {
			blocks = slices.Insert(blocks, 0, Block{Kind: Thinking, Text: thought})
		}
	}
	found := len(blocks)
	for raw := range pyjson.Elements(member(row, "tool_calls")) {
		call := callOf(raw)
		twin := slices.IndexFunc(blocks[:found], func(b Block) bool { return b.Kind == Call && b.ID == call.ID })
		if twin < 0 {
			blocks = append(blocks, call)
		} else {
			blocks[twin].Sign = cmp.Or(blocks[twin].Sign, call.Sign)
		}
	}
	return blocks
}

// contentOf returns the blocks of the content of a message or a result.
func contentOf(raw []byte) (blocks []Block) {
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return []Block{{Kind: Text, Text: pyjson.Text(raw)}}
	case pyjson.Array:
		for raw := range pyjson.Elements(raw) {
			blocks = append(blocks, blockOf(raw))
		}
	case pyjson.Invalid, pyjson.Null:
	default: // of a result: a tool's value
		return []Block{{Kind: Text, Text: string(pyjson.Canonical(raw))}}
	}
	return blocks
}

// blockOf returns a block of content.
func blockOf(raw []byte) Block {
	kind := text(raw, "type")
	b := Block{Name: kind, Raw: bytes.Clone(raw)}
	switch kind {
	case "text", "input_text", "output_text":
		return Block{Kind: Text, Text: text(raw, "text"), Sign: text(raw, "signature")}
	case "refusal":
		return Block{Kind: Text, Text: text(raw, "refusal")}
	case "thinking", "redacted_thinking":
		b = Block{Kind: Thinking, Text: text(raw, "thinking"), Sign: text(raw, "signature"), Redacted: text(raw, "data")}
		pair := slices.Collect(pyjson.Elements(member(raw, "content")))
		if len(pair) > 1 {
			b.Sealed, b.Item = turns.TextOf(pair[0]), turns.TextOf(pair[1])
		}
	case "tool_use", "tool_call":
		return callOf(raw)
	case "tool_result":
		id, _ := turns.ResultID(raw)
		b = Block{
			Kind: Result, ID: id, Name: text(raw, "name"),
			Failed: pyjson.Truthy(member(raw, "is_error")), Content: contentOf(member(raw, "content")),
		}
	case "image", "image_url", "input_image", "document", "file", "input_file", "search_result":
		b.Kind, b.File, b.Sign = File, sourceOf(raw, kind), text(raw, "signature")
	}
	return b
}

// callOf returns a call, an element of tool_calls or a block.
func callOf(raw []byte) Block {
	b := Block{Kind: Call, ID: text(raw, "id"), Sign: text(raw, "signature")}
	from := raw
	if fn := member(raw, "function"); pyjson.KindOf(fn) == pyjson.Object {
		from = fn
	}
	b.Name = cmp.Or(text(from, "name"), text(from, "tool"))
	args := member(from, "arguments")
	if args == nil {
		args = member(from, "input")
	}
	b.Args = argsOf(args)
	return b
}

// argsOf returns arguments as an object where they are one, are the text of one, or there
// are none.
func argsOf(raw []byte) json.RawMessage {
	inner := raw
	if pyjson.KindOf(raw) == pyjson.String {
		inner = []byte(strings.TrimSpace(pyjson.Text(raw)))
	}
	switch {
	case len(inner) == 0 || pyjson.KindOf(inner) == pyjson.Null:
		return json.RawMessage("{}")
	case pyjson.KindOf(inner) == pyjson.Object && pyjson.Check(inner, pyjson.Tolerant) == nil:
		return pyjson.Canonical(inner)
	}
	return pyjson.Canonical(raw)
}

// sourceOf returns the image or the document that a block is.
func sourceOf(raw []byte, kind string) Source {
	s := Source{Image: strings.Contains(kind, "image")}
	inner := raw
	for _, name := range [...]string{"source", "image_url", "file"} {
		switch value := member(raw, name); pyjson.KindOf(value) {
		case pyjson.Object:
			inner = value
		case pyjson.String:
			s.take(pyjson.Text(value))
		}
	}
	s.Media = cmp.Or(text(inner, "media_type"), text(inner, "mime_type"), s.Media)
	s.Name = cmp.Or(text(raw, "title"), text(inner, "filename"))
	if id := text(inner, "file_id"); member(raw, "source") != nil {
		s.ID = id
	} else {
		s.OpenAI = id
	}
	if url := cmp.Or(text(inner, "url"), text(inner, "file_url"), text(inner, "file_data")); url != "" {
		s.take(url)
	}
	switch {
	case text(inner, "type") == "text":
		s.Plain = text(inner, "data")
	case s.Data == "":
		s.Data = text(inner, "data")
	}
	for _, b := range contentOf(member(inner, "content")) { // of a document, or of a result of a search
		s.Plain += b.Text
	}
	if s.Media == "" && s.Image {
		s.Media = "image/jpeg" // as the Python tools have it
	}
	return s
}

func member(raw []byte, name string) []byte { return turns.Members(raw, name)[0] }

func text(raw []byte, name string) string { return pyjson.Text(member(raw, name)) }
