package said

import (
	"cmp"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Gemini is the Gemini API.
var Gemini = &Format{
	Name: "gemini", rules: accept.Gemini, joins: true,
	read: geminiRead, pieces: geminiPieces,
	messages: func(role string, pieces []any) []any {
		if len(pieces) == 0 {
			return nil
		}
		if role == "assistant" {
			role = "model"
		}
		return []any{object{"role": role, "parts": pieces}}
	},
}

// geminiRead returns what a part of an answer says.
func geminiRead(part []byte) []Block {
	sign := text(part, "thoughtSignature")
	switch {
	case pyjson.Truthy(member(part, "thought")):
		return []Block{{Kind: Thinking, Text: text(part, "text"), Sign: sign}}
	case member(part, "functionCall") != nil:
		call := member(part, "functionCall")
		return []Block{{Kind: Call, ID: text(call, "id"), Name: text(call, "name"), Args: argsOf(member(call, "args")), Sign: sign}}
	case text(part, "text") != "":
		return []Block{{Kind: Text, Text: text(part, "text"), Sign: sign}}
	case member(part, "inlineData") != nil:
		data := member(part, "inlineData")
		media := text(data, "mimeType")
		return []Block{{Kind: File, File: Source{Image: strings.HasPrefix(media, "image/"), Media: media, Data: text(data, "data")}}}
	}
	return []Block{{Name: "a part of gemini"}}
}

func geminiPieces(role string, b Block, left func(what string)) []object {
	signed := func(part object) []object {
		if isBase64(b.Sign) {
			part["thoughtSignature"] = b.Sign
		} else if b.Sign != "" {
			left("signature")
		}
		return []object{part}
	}
	switch b.Kind {
	case Text:
		return signed(object{"text": b.Text})
	case Thinking:
		if !isBase64(b.Sign) || b.Item != "" || b.Redacted != "" {
			left("thinking")
			return nil
		}
		return signed(object{"text": b.Text, "thought": true})
	case Call:
		return signed(object{"functionCall": object{"id": b.ID, "name": b.Name, "args": b.Args}})
	case Result:
		return []object{{"functionResponse": geminiResponse(b, left)}}
	case File:
		if b.File.Plain != "" {
			return []object{{"text": b.File.Plain}}
		}
		if part := geminiFile(b.File); part != nil {
			return []object{part}
		}
	}
	left(b.Name)
	return nil
}

// geminiResponse returns the response of a function: its texts as one, and then its files.
func geminiResponse(b Block, left func(what string)) object {
	var texts []string
	var files []object
	for _, c := range b.Content {
		switch part := geminiFile(c.File); {
		case c.Kind == Text:
			texts = append(texts, c.Text)
		case c.Kind == File && c.File.Plain != "":
			texts = append(texts, c.File.Plain)
		case part == nil:
			left(c.Name)
		default:
			files = append(files, part)
		}
	}
	key := "output"
	if b.Failed {
		key = "error"
	}
	response := object{"id": b.ID, "name": b.Name, "response": object{key: strings.Join(texts, "\n")}}
	if files != nil {
		response["parts"] = files
	}
	return response
}

// geminiFile returns the part that is a file, nil where Gemini cannot be shown it.
func geminiFile(s Source) object {
	switch {
	case isBase64(s.Data):
		return object{"inlineData": object{"mimeType": cmp.Or(s.Media, "application/octet-stream"), "data": s.Data}}
	case s.URL != "":
		return object{"fileData": object{"mimeType": s.Media, "fileUri": s.URL}}
	}
	return nil
}
