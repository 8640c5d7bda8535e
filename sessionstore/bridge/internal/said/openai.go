package said

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// OpenAI is the Responses API.
var OpenAI = &Format{Name: "openai", rules: accept.OpenAIResponses, read: openaiRead, pieces: openaiPieces, messages: openaiMessages}

// openaiRead returns what an item of an answer says. The parts of a summary are one text,
// as the Python tools have it.
func openaiRead(item []byte) []Block {
	switch kind := text(item, "type"); kind {
	case "message":
		return contentOf(member(item, "content"))
	case "reasoning":
		var summary []string
		for raw := range pyjson.Elements(member(item, "summary")) {
			summary = append(summary, text(raw, "text"))
		}
		return []Block{{Kind: Thinking, Text: strings.Join(summary, "\n"), Sealed: text(item, "encrypted_content"), Item: text(item, "id")}}
	case "function_call":
		return []Block{{Kind: Call, ID: text(item, "call_id"), Name: text(item, "name"), Args: argsOf(member(item, "arguments"))}}
	case "custom_tool_call": // whose text is no object: its result goes to the call of a function
		return []Block{{Kind: Call, ID: text(item, "call_id"), Name: text(item, "name"), Args: pyjson.Canonical(member(item, "input"))}}
	default:
		return []Block{{Name: kind}}
	}
}

// unanswered returns the types of the calls of OpenAI's tools that the program runs, as a shell: no
// row has their results, without which OpenAI refuses them.
func unanswered(items []json.RawMessage) (kinds []string) {
	halves := map[string]int{}
	for _, item := range items {
		halves[text(item, "call_id")]++
	}
	for _, item := range items {
		kind, id := text(item, "type"), text(item, "call_id")
		if id != "" && halves[id] == 1 && kind != "function_call" && kind != "custom_tool_call" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func openaiPieces(role string, b Block, left func(what string)) []any {
	switch b.Kind {
	case Text:
		leaveSign(b, left)
		if role == "assistant" {
			return []any{object{"type": "message", "role": role, "content": b.Text}}
		}
		return []any{object{"type": "input_text", "text": b.Text}}
	case Thinking:
		if b.Item != "" {
			item := object{"type": "reasoning", "id": b.Item, "encrypted_content": b.Sealed, "summary": []any{}}
			if b.Text != "" {
				item["summary"] = []any{object{"type": "summary_text", "text": b.Text}}
			}
			return []any{item}
		}
	case Call:
		leaveSign(b, left)
		args := string(b.Args)
		if pyjson.KindOf(b.Args) == pyjson.String {
			args = pyjson.Text(b.Args)
		}
		return []any{object{"type": "function_call", "call_id": b.ID, "name": b.Name, "arguments": args}}
	case Result:
		if b.Failed {
			left("the mark that a tool failed")
		}
		return []any{object{"type": "function_call_output", "call_id": b.ID, "output": openaiOutput(b.Content, left)}}
	case File:
		if file := openaiFile(b.File); role == "user" && file != nil {
			return []any{file}
		}
	}
	left(b.Name)
	return nil
}

// openaiOutput returns the output of a call: a text where it is nothing else.
func openaiOutput(blocks []Block, left func(what string)) any {
	if len(blocks) == 0 {
		return ""
	}
	if len(blocks) == 1 && blocks[0].Kind == Text {
		return blocks[0].Text
	}
	list := []any{}
	for _, b := range blocks {
		list = append(list, openaiPieces("user", b, left)...)
	}
	return list
}

// openaiFile returns the part that is a file, nil where it is nowhere that OpenAI knows.
func openaiFile(s Source) any {
	switch {
	case s.Plain != "":
		return object{"type": "input_text", "text": s.Plain}
	case s.Image && s.Data != "":
		return object{"type": "input_image", "detail": "auto", "image_url": s.dataURL()}
	case s.Image && s.URL != "":
		return object{"type": "input_image", "detail": "auto", "image_url": s.URL}
	case s.Data != "":
		return object{"type": "input_file", "filename": cmp.Or(s.Name, "document"), "file_data": s.dataURL()}
	case s.URL != "":
		return object{"type": "input_file", "file_url": s.URL}
	case s.OpenAI != "" && s.Image:
		return object{"type": "input_image", "detail": "auto", "file_id": s.OpenAI}
	case s.OpenAI != "":
		return object{"type": "input_file", "file_id": s.OpenAI}
	}
	return nil
}

// openaiMessages returns the items: what a person said and showed in one message is an item.
func openaiMessages(role string, pieces []any) (items []any) {
	var content []any
	for _, piece := range pieces {
		if o, ok := piece.(object); ok && strings.HasPrefix(o["type"].(string), "input_") {
			content = append(content, piece)
		} else {
			items = append(items, piece)
		}
	}
	if content != nil { // after the results of the message
		items = append(items, object{"type": "message", "role": role, "content": content})
	}
	return items
}
