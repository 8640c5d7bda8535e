package said

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Anthropic is the Messages API.
var Anthropic = &Format{
	Name: "anthropic", rules: accept.Anthropic, joins: true,
	read:   func(piece []byte) []Block { return []Block{blockOf(piece)} },
	pieces: anthropicPieces,
	messages: func(role string, pieces []any) []any {
		if len(pieces) == 0 {
			return nil
		}
		return []any{object{"role": role, "content": pieces}}
	},
}

// anthropicKnown are the blocks beside those of Block that Anthropic takes back.
var anthropicKnown = []string{"server_tool_use", "mcp_tool_use", "search_result", "container_upload", "tool_reference", "compaction"}

func anthropicPieces(role string, b Block, left func(what string)) []object {
	switch b.Kind {
	case Text:
		leaveSign(b, left)
		return []object{{"type": "text", "text": b.Text}}
	case Thinking:
		switch {
		case b.Redacted != "":
			return []object{{"type": "redacted_thinking", "data": b.Redacted}}
		case b.Item != "":
			left("thinking of openai")
			return nil
		}
		return []object{{"type": "thinking", "thinking": b.Text, "signature": b.Sign}}
	case Call:
		leaveSign(b, left)
		return []object{{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Args}}
	case Result:
		result := object{"type": "tool_result", "tool_use_id": b.ID, "content": anthropicContent(b.Content, left)}
		if b.Failed {
			result["is_error"] = true
		}
		return []object{result}
	case File:
		return anthropicFile(role, b, left)
	}
	if !slices.Contains(anthropicKnown, b.Name) && !strings.HasSuffix(b.Name, "_tool_result") {
		left(b.Name)
		return nil
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(b.Raw, &all) != nil {
		left(b.Name)
		return nil
	}
	other := object{}
	for name, value := range all {
		if name != "visibility" { // of the Python tools
			other[name] = value
		}
	}
	return []object{other}
}

// leaveSign notes that Gemini's signature of a text or a call is left out.
func leaveSign(b Block, left func(what string)) {
	if b.Sign != "" {
		left("signature of gemini")
	}
}

// anthropicContent returns the content of a result. A text that is blank may be its content,
// but not a block of it.
func anthropicContent(blocks []Block, left func(what string)) any {
	blank := func(b Block) bool { return b.Kind == Text && strings.TrimSpace(b.Text) == "" }
	if len(blocks) == 1 && blank(blocks[0]) {
		return blocks[0].Text
	}
	list := []object{}
	for _, b := range blocks {
		if !blank(b) {
			list = append(list, anthropicPieces("user", b, left)...)
		}
	}
	return list
}

func anthropicFile(role string, b Block, left func(what string)) []object {
	s, source, kind := b.File, object(nil), "document"
	if s.Image {
		kind = "image"
	}
	switch {
	case role == "assistant":
	case s.Data != "":
		source = object{"type": "base64", "media_type": s.Media, "data": s.Data}
	case s.Plain != "":
		source = object{"type": "text", "media_type": "text/plain", "data": s.Plain}
	case s.URL != "":
		source = object{"type": "url", "url": s.URL}
	case s.ID != "":
		source = object{"type": "file", "file_id": s.ID}
	}
	if source == nil {
		left(b.Name)
		return nil
	}
	file := object{"type": kind, "source": source}
	if b.Name == "document" { // in Anthropic's form
		for _, name := range [...]string{"title", "context", "citations"} {
			if value := member(b.Raw, name); value != nil && pyjson.KindOf(value) != pyjson.Null {
				file[name] = json.RawMessage(value)
			}
		}
	} else if s.Name != "" && !s.Image {
		file["title"] = s.Name
	}
	return []object{file}
}
