package strict

import (
	"fmt"
	"slices"
	"strings"
)

// partData is the fields of a part of which it has one.
var partData = []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"}

// turn is one content of a request.
type turn struct {
	role             string // user or model
	calls, responses int
	texts            bool // it has parts beside calls, responses and thoughts
}

func (j *judge) gemini(request object) {
	contents := list(request["contents"])
	if len(contents) == 0 {
		j.refuse("gemini.contents", "* GenerateContentRequest.contents: contents is not specified")
	}
	var turns []turn
	for i, v := range contents {
		turns = append(turns, j.geminiContent(i, fields(v)))
	}
	j.geminiOrder(turns)
	j.geminiPairs(turns)
	if j.limits.Signatures {
		j.geminiSignatures(contents, turns)
	}
	most := 3600
	if j.limits.Host == Vertex {
		most = 3000
	}
	if j.images > most {
		j.refuse("gemini.image.count", "Please use fewer than %d images in your request to %s.", most, "this model")
	}
	declared := 0
	for i, t := range list(request["tools"]) {
		for k, d := range list(fields(t)["functionDeclarations"]) {
			declared++
			name := text(fields(d)["name"])
			if !word(name, "_.:-") || len(name) > 128 || (!word(name[:1], "_") || name[0] >= '0' && name[0] <= '9') {
				j.refuse("gemini.tool.name", "* GenerateContentRequest.tools[%d].function_declarations[%d].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.", i, k)
			}
		}
	}
	if declared > 512 {
		j.refuse("gemini.tools", "* GenerateContentRequest.tools: maximum 512 function declarations can be provided, got %d", declared)
	}
}

func (j *judge) geminiContent(i int, content object) turn {
	t := turn{role: text(content["role"])}
	switch t.role {
	case "":
		t.role = "user"
	case "user", "model":
	default:
		j.refuse("gemini.role", "Please use a valid role: user, model.")
	}
	parts := list(content["parts"])
	if len(parts) == 0 {
		j.refuse("gemini.parts", "* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
	}
	for k, v := range parts {
		part := fields(v)
		at := fmt.Sprintf("contents[%d].parts[%d]", i, k)
		has := slices.DeleteFunc(slices.Clone(partData), func(name string) bool {
			return part[name] == nil || name == "text" && text(part[name]) == "" && text(part["thoughtSignature"]) == ""
		})
		switch {
		case len(has) == 0:
			j.refuse("gemini.part", "* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", at)
			continue
		case len(has) > 1:
			j.refuse("gemini.part.one", "Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", at, has[1])
		}
		if s := text(part["thoughtSignature"]); s != "" {
			if _, ok := decode(strings.NewReplacer("-", "+", "_", "/").Replace(s)); !ok { // of either alphabet
				j.refuse("gemini.signature.form", "Invalid value at '%s.thought_signature' (TYPE_BYTES), Base64 decoding failed for \"%s\"", at, s)
			}
		}
		j.geminiPart(at, has[0], part)
		switch {
		case has[0] == "functionCall":
			t.calls++
		case has[0] == "functionResponse":
			t.responses++
		case part["thought"] != true:
			t.texts = true
		}
	}
	return t
}

func (j *judge) geminiPart(at, kind string, part object) {
	data := fields(part[kind])
	switch kind {
	case "functionCall":
		if text(data["name"]) == "" {
			j.refuse("gemini.name", "* GenerateContentRequest.%s.function_call.name: Name cannot be empty.", at)
		}
		if args := data["args"]; args != nil && fields(args) == nil {
			j.refuse("gemini.args", "Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
		}
	case "functionResponse":
		if text(data["name"]) == "" {
			j.refuse("gemini.name", "* GenerateContentRequest.%s.function_response.name: Name cannot be empty.", at)
		}
		if fields(data["response"]) == nil {
			j.refuse("gemini.response", "Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct)", at)
		}
		for k, v := range list(data["parts"]) {
			j.geminiImage(fmt.Sprintf("%s.function_response.parts[%d]", at, k), fields(fields(v)["inlineData"]))
		}
	case "inlineData":
		j.geminiImage(at, data)
	}
}

func (j *judge) geminiImage(at string, data object) {
	media := text(data["mimeType"])
	if len(media) < 6 || media[:6] != "image/" {
		return
	}
	j.images++
	if !oneOf(media, "image/png image/jpeg image/webp image/heic image/heif") {
		j.refuse("gemini.image.type", "Unsupported MIME type: %s", media)
		return
	}
	raw, ok := decode(text(data["data"]))
	if p := look(raw); !ok || p.kind == "" {
		j.refuse("gemini.image", "Provided image is not valid.")
	}
}

// geminiOrder judges the order of the roles.
func (j *judge) geminiOrder(turns []turn) {
	if len(turns) > 0 && turns[len(turns)-1].role == "model" {
		j.refuse("gemini.end", "Please ensure that multiturn requests ends with a user role or a function response.")
	}
	for i, t := range turns {
		if i == 0 && t.role == "model" && t.calls == 0 || i > 0 && t.role == turns[i-1].role {
			j.refuse("gemini.alternate", "Please ensure that multiturn requests alternate between user and model.")
			return
		}
	}
}

// geminiPairs judges how calls and responses pair.
func (j *judge) geminiPairs(turns []turn) {
	for i, t := range turns {
		before, after := turn{}, turn{}
		if i > 0 {
			before = turns[i-1]
		}
		if i+1 < len(turns) {
			after = turns[i+1]
		}
		if t.calls > 0 && (t.role != "model" || before.role != "user") {
			j.refuse("gemini.call.order", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		if t.responses > 0 && before.calls == 0 {
			j.refuse("gemini.response.order", "Please ensure that function response turn comes immediately after a function call turn.")
		}
		if t.calls > 0 && i+1 < len(turns) && after.responses != t.calls {
			j.refuse("gemini.response.number", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		}
	}
}

// geminiSignatures demands of each step of the current turn that its first call is signed, if
// only with the text that the documents name for calls of other models.
func (j *judge) geminiSignatures(contents []any, turns []turn) {
	current := 0
	for i, t := range turns {
		if t.role == "user" && t.texts {
			current = i
		}
	}
	for i := current; i < len(turns); i++ {
		for _, v := range list(fields(contents[i])["parts"]) {
			call := fields(fields(v)["functionCall"])
			if call == nil {
				continue
			}
			if text(fields(v)["thoughtSignature"]) == "" {
				j.refuse("gemini.signature", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", text(call["name"]), i+1)
			}
			break
		}
	}
}
