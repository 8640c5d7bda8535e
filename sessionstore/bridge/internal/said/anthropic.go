package said

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Anthropic is the Messages API.
var Anthropic = &Format{
	Name: "anthropic", rules: accept.Anthropic, joins: true,
	read:     func(piece []byte) []Block { return []Block{blockOf(piece)} },
	pieces:   anthropicPieces,
	messages: func(role string, pieces []any) []any { return []any{object{"role": role, "content": pieces}} },
}

// known reports whether a block is one that only Anthropic takes, and every tool stores.
func (b Block) known() bool {
	names := []string{"server_tool_use", "mcp_tool_use", "container_upload", "tool_reference", "compaction"}
	return b.Kind == Other && b.Raw != nil && (slices.Contains(names, b.Name) || strings.HasSuffix(b.Name, "_tool_result"))
}

// paired leaves out the calls of tools that the provider runs, and results of such, of which a turn
// has only one half: Anthropic refuses them. The last turn may go on with the results of its
// calls, after a pause or after the results of the program's tools.
func (f *Format) paired(all []message, left func(row int, what string)) {
	for begin, end := 0, 0; begin < len(all); begin = end {
		for end = begin + 1; end < len(all) && !all[end].prompts(); end++ {
		}
		halves := map[string]int{} // 1: its call, 2: its result, 3: both
		for _, m := range all[begin:end] {
			for _, piece := range m.pieces {
				id, call := half(piece)
				halves[id] |= map[bool]int{true: 1, false: 2}[call]
			}
		}
		for i, m := range all[begin:end] {
			var whole []any
			for _, piece := range m.pieces {
				if id, call := half(piece); id == "" || halves[id] == 3 || call && end == len(all) {
					whole = append(whole, piece)
				} else {
					left(m.row, text(piece.(json.RawMessage), "type"))
				}
			}
			if len(whole) < len(m.pieces) { // so it does not end with thinking
				all[begin+i].pieces = append(whole, f.pieces(m.side, leftOut, nil)...)
			}
		}
	}
}

// half returns the id of such a call or result, "" for other pieces.
func half(piece any) (id string, call bool) {
	raw, _ := piece.(json.RawMessage)
	switch kind := text(raw, "type"); {
	case kind == "server_tool_use" || kind == "mcp_tool_use":
		return text(raw, "id"), true
	case strings.HasSuffix(kind, "_tool_result"):
		return text(raw, "tool_use_id"), false
	}
	return "", false
}

// prompts reports whether a message of the user is more than results: it begins a turn.
func (m message) prompts() bool {
	return m.side == "user" && slices.ContainsFunc(m.pieces, func(piece any) bool {
		o, _ := piece.(object)
		return o["type"] != "tool_result" && o["functionResponse"] == nil
	})
}

func anthropicPieces(role string, b Block, left func(what string)) []any {
	switch b.Kind {
	case Text:
		leaveSign(b, left)
		return []any{object{"type": "text", "text": b.Text}}
	case Thinking:
		switch {
		case b.Redacted != "":
			return []any{object{"type": "redacted_thinking", "data": b.Redacted}}
		case b.Item == "" && b.Sign != "":
			return []any{object{"type": "thinking", "thinking": b.Text, "signature": b.Sign}}
		}
	case Call:
		leaveSign(b, left)
		return []any{object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Args}}
	case Result:
		result := object{"type": "tool_result", "tool_use_id": b.ID, "content": anthropicContent(b.Content, left)}
		if b.Failed {
			result["is_error"] = true
		}
		return []any{result}
	case File:
		if file := anthropicFile(b); role == "user" && file != nil {
			return []any{file}
		}
	case Other:
		if b.known() {
			return []any{json.RawMessage(pyjson.Remove(b.Raw, "visibility"))} // of the Python tools
		}
	}
	left(b.Name)
	return nil
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
	list := []any{}
	for _, b := range blocks {
		if !blank(b) {
			list = append(list, anthropicPieces("user", b, left)...)
		}
	}
	return list
}

// anthropicFile returns the block that is a file, nil where it is nowhere that Anthropic knows, or
// is of a type that it does not take.
func anthropicFile(b Block) any {
	s, file := b.File, object{"type": "document"}
	if data, err := base64.StdEncoding.DecodeString(s.Data); len(s.Data) > 0 && !s.Image && (err != nil || s.Media != "application/pdf") {
		if err != nil || !strings.HasPrefix(s.Media, "text/") || !utf8.Valid(data) {
			return nil
		}
		s.Data, s.Plain, b.Name = "", string(data), ""
	}
	if s.Image {
		file["type"] = "image"
	} else if s.Name != "" {
		file["title"] = s.Name
	}
	switch {
	case s.Data != "":
		file["source"] = object{"type": "base64", "media_type": s.Media, "data": s.Data}
	case s.Plain != "":
		file["source"] = object{"type": "text", "media_type": "text/plain", "data": s.Plain}
	case s.URL != "":
		file["source"] = object{"type": "url", "url": s.URL}
	case s.ID != "":
		file["source"] = object{"type": "file", "file_id": s.ID}
	default:
		return nil
	}
	if b.Name == "document" || b.Name == "search_result" { // it may have a context and more
		return json.RawMessage(pyjson.Remove(b.Raw, "visibility"))
	}
	return file
}

// CutOff returns a call of which half of the arguments came, without them.
func CutOff(call json.RawMessage) json.RawMessage {
	return pyjson.Splice(call, "input", []byte(`{"arguments": ""}`))
}
