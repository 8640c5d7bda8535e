package said

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Gemini is the Gemini API.
var Gemini = &Format{
	Name: "gemini", rules: accept.Gemini, joins: true, signs: true, read: geminiRead, pieces: geminiPieces,
	messages: func(role string, pieces []any) []any {
		return []any{object{"role": map[string]string{"user": "user", "assistant": "model"}[role], "parts": pieces}}
	},
}

// noSignature is the signature of a call that another model made. Gemini 3 refuses the first call
// of a step of the current turn without one, and takes this for it: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
// and https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures, November 2026.
var noSignature = base64.StdEncoding.EncodeToString([]byte("skip_thought_signature_validator"))

// skipSignature gives the first call of a message that signature, if no call has one.
func skipSignature(pieces []any) {
	var first object
	for _, piece := range pieces {
		part, _ := piece.(object)
		switch {
		case part["functionCall"] == nil:
		case part["thoughtSignature"] != nil:
			return
		case first == nil:
			first = part
		}
	}
	if first != nil {
		first["thoughtSignature"] = noSignature
	}
}

// geminiRead returns what a part of an answer says.
func geminiRead(part []byte) []Block {
	b := Block{Name: "a part of gemini", Sign: strings.TrimPrefix(text(part, "thoughtSignature"), noSignature), Text: text(part, "text")}
	call, data := member(part, "functionCall"), member(part, "inlineData")
	switch {
	case pyjson.Truthy(member(part, "thought")):
		b.Kind, b.Name = Thinking, ""
	case call != nil:
		b.Kind, b.ID, b.Name, b.Args = Call, text(call, "id"), text(call, "name"), argsOf(member(call, "args"))
	case b.Text != "":
		b.Kind, b.Name = Text, ""
	case data != nil:
		media := text(data, "mimeType")
		b.Kind, b.File = File, Source{Image: strings.HasPrefix(media, "image/"), Media: media, Data: text(data, "data")}
	}
	return []Block{b}
}

func geminiPieces(_ string, b Block, left func(what string)) []any {
	var part object
	switch b.Kind {
	case Text:
		part = object{"text": b.Text}
	case Thinking:
		if isBase64(b.Sign) && b.Item+b.Redacted == "" {
			part = object{"text": b.Text, "thought": true}
		}
	case Call:
		part = object{"functionCall": object{"id": b.ID, "name": b.Name, "args": b.Args}}
	case Result:
		return []any{object{"functionResponse": geminiResponse(b, left)}}
	case File:
		part = geminiFile(b.File)
	}
	switch {
	case part == nil:
		left(cmp.Or(b.Name, "thinking"))
		return nil
	case isBase64(b.Sign):
		part["thoughtSignature"] = b.Sign
	case b.Sign != "":
		left("signature")
	}
	return []any{part}
}

// geminiResponse returns the response of a function: its texts as one, and then its files.
func geminiResponse(b Block, left func(what string)) object {
	var texts []string
	var files []object
	for _, c := range b.Content {
		switch part := geminiFile(c.File); {
		case c.Kind == Text:
			texts = append(texts, c.Text)
		case part == nil:
			left(c.Name)
		case part["text"] != nil:
			texts = append(texts, c.File.Plain)
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

// geminiFile returns the part that is a file, nil where it is nowhere that Gemini knows.
func geminiFile(s Source) object {
	switch {
	case s.Plain != "":
		return object{"text": s.Plain}
	case isBase64(s.Data) && s.Media != "application/pdf" && (s.Media == "" || strings.HasPrefix(s.Media, "application/")):
		return nil // https://github.com/googleapis/python-genai/issues/829
	case isBase64(s.Data):
		return object{"inlineData": object{"mimeType": s.Media, "data": s.Data}}
	case s.URL != "":
		return object{"fileData": object{"mimeType": s.Media, "fileUri": s.URL}}
	}
	return nil
}
