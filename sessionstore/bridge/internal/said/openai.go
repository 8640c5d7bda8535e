package said

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// OpenAI is the Responses API.
var OpenAI = &Format{
	Name: "openai", rules: accept.OpenAIResponses,
	read: openaiRead, pieces: openaiPieces, messages: openaiMessages,
}

// openaiRead returns what an item of an answer says. The parts of a summary are one text,
// as the Python tools have it.
func openaiRead(item []byte) (blocks []Block) {
	switch text(item, "type") {
	case "message":
		for raw := range pyjson.Elements(member(item, "content")) {
			blocks = append(blocks, blockOf(raw))
		}
		return blocks
	case "reasoning":
		var summary []string
		for raw := range pyjson.Elements(member(item, "summary")) {
			summary = append(summary, text(raw, "text"))
		}
		return []Block{{
			Kind: Thinking, Text: strings.Join(summary, "\n"),
			Sealed: text(item, "encrypted_content"), Item: text(item, "id"),
		}}
	case "function_call":
		return []Block{{Kind: Call, ID: text(item, "call_id"), Name: text(item, "name"), Args: argsOf(member(item, "arguments"))}}
	}
	return []Block{{Name: text(item, "type")}}
}

func openaiPieces(role string, b Block, left func(what string)) []object {
	switch b.Kind {
	case Text:
		leaveSign(b, left)
		if role == "assistant" {
			return []object{{"type": "message", "role": role, "content": b.Text}}
		}
		return []object{{"type": "input_text", "text": b.Text}}
	case Thinking:
		if b.Item == "" {
			left("thinking")
			return nil
		}
		item := object{"type": "reasoning", "id": b.Item, "summary": []object{}}
		if b.Text != "" {
			item["summary"] = []object{{"type": "summary_text", "text": b.Text}}
		}
		if b.Sealed != "" {
			item["encrypted_content"] = b.Sealed
		}
		return []object{item}
	case Call:
		leaveSign(b, left)
		args := string(b.Args)
		if pyjson.KindOf(b.Args) == pyjson.String {
			args = pyjson.Text(b.Args)
		}
		return []object{{"type": "function_call", "call_id": b.ID, "name": b.Name, "arguments": args}}
	case Result:
		if b.Failed {
			left("the mark that a tool failed")
		}
		return []object{{"type": "function_call_output", "call_id": b.ID, "output": openaiOutput(b.Content, left)}}
	case File:
		return openaiFile(role, b, left)
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
	list := []object{}
	for _, b := range blocks {
		list = append(list, openaiPieces("user", b, left)...)
	}
	return list
}

func openaiFile(role string, b Block, left func(what string)) []object {
	s, file := b.File, object{"type": "input_file"}
	at, url := "file_url", s.URL
	if s.Image {
		file = object{"type": "input_image", "detail": "auto"}
		at = "image_url"
	}
	switch {
	case role == "assistant":
		left(b.Name)
		return nil
	case s.Plain != "":
		return []object{{"type": "input_text", "text": s.Plain}}
	case s.Data != "" && s.Image:
		url = s.dataURL()
	case s.Data != "":
		file["filename"] = cmp.Or(s.Name, "document")
		at, url = "file_data", s.dataURL()
	case url == "" && strings.HasPrefix(s.ID, "file-"):
		at, url = "file_id", s.ID
	}
	if url == "" {
		left(b.Name)
		return nil
	}
	file[at] = url
	return []object{file}
}

// openaiMessages returns the items: what a person said and showed in one message is an item.
func openaiMessages(_ string, pieces []any) (items []any) {
	var content []any
	flush := func() {
		if content != nil {
			items = append(items, object{"type": "message", "role": "user", "content": content})
		}
		content = nil
	}
	for _, piece := range pieces {
		if o, ok := piece.(object); ok && strings.HasPrefix(fmt.Sprint(o["type"]), "input_") {
			content = append(content, piece)
			continue
		}
		flush()
		items = append(items, piece)
	}
	flush()
	return items
}
