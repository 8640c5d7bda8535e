package strict

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const longest = 10 << 20 // characters of a string

// missing refuses a field that must be there.
func (j *judge) missing(rule, param string) {
	r := j.refuse(rule, "Missing required parameter: '%s'.", param)
	r.Param, r.Code = param, "missing_required_parameter"
}

// invalid refuses a value that is not one of a list.
func (j *judge) invalid(rule, param, value, supported string) {
	r := j.refuse(rule, "Invalid value: '%s'. Supported values are: %s.", value, "'"+strings.Join(strings.Fields(supported), "', '")+"'")
	r.Param, r.Code = param, "invalid_value"
}

// long refuses a string that is too long.
func (j *judge) long(rule, param string, v any, most int) {
	if n := utf8.RuneCountInString(text(v)); n > most {
		r := j.refuse(rule, "Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", param, most, n)
		r.Param, r.Code = param, "string_above_max_length"
	}
}

// empty refuses an array without items.
func (j *judge) empty(rule, param string) {
	r := j.refuse(rule, "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", param)
	r.Param, r.Code = param, "empty_array"
}

// name judges the name of a function.
func (j *judge) name(rule, param string, v any, most int) {
	if name := text(v); !word(name, "_-") {
		r := j.refuse(rule, "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", param)
		r.Param, r.Code = param, "invalid_value"
	}
	j.long(rule, param, v, most)
}

// arguments judges the arguments of a call: the API takes any string.
func (j *judge) arguments(rule, param string, v any) {
	if v == nil {
		j.missing(rule, param)
	} else if !isText(v) {
		r := j.refuse(rule, "Invalid type for '%s': expected a string, but got an object instead.", param)
		r.Param, r.Code = param, "invalid_type"
	}
}

// picture judges a picture that is in the request.
func (j *judge) picture(prefix, url string) {
	if j.images++; j.images == 1501 {
		j.refuse(prefix+".image.count", "Invalid request: too many images. Up to 1500 images are allowed per request.")
	}
	_, data, ok := dataURL(url)
	if !ok {
		return
	}
	raw, ok := decode(data)
	if p := look(raw); !ok || p.moves || !oneOf(p.kind, "png jpeg gif webp") {
		r := j.refuse(prefix+".image", "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
		r.Code = "invalid_image_format"
	}
}

func (j *judge) chat(request object) {
	if _, ok := request["model"]; !ok {
		j.missing("chat.required", "model")
	}
	messages := list(request["messages"])
	if request["messages"] == nil {
		j.missing("chat.required", "messages")
	} else if len(messages) == 0 {
		j.empty("chat.messages", "messages")
	}
	var open []string           // ids of the last calls that have no answer
	answers := map[string]int{} // by the id of a last call: the message that answers it, or 0
	caller := 0
	for i, v := range messages {
		m, at := fields(v), fmt.Sprintf("messages[%d]", i)
		role := text(m["role"])
		if role != "tool" {
			j.unanswered(open, caller)
			open, answers, caller = nil, map[string]int{}, i
		}
		switch role {
		case "assistant":
			for _, id := range j.chatCalls(at, m) {
				open, answers[id] = append(open, id), 0
			}
		case "tool":
			j.chatResult(i, m, answers)
			open = without(open, text(m["tool_call_id"]))
		case "system", "developer", "user", "function":
		default:
			j.invalid("chat.role", at+".role", role, "system assistant user function tool developer")
		}
		j.chatContent(i, at, role, m)
	}
	j.unanswered(open, caller)
	j.chatTools(request)
}

// chatResult judges the result that is message i against the calls before it.
func (j *judge) chatResult(i int, m object, answers map[string]int) {
	id := text(m["tool_call_id"])
	before, called := answers[id]
	switch {
	case m["tool_call_id"] == nil:
		j.missing("chat.result.id", fmt.Sprintf("messages[%d].tool_call_id", i))
	case !called:
		r := j.refuse("chat.result.unexpected", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
		r.Param = fmt.Sprintf("messages.[%d].role", i)
	case before > 0:
		r := j.refuse("chat.result.twice", "Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in messages[%d] and messages[%d].", id, before, i)
		r.Param = fmt.Sprintf("messages.[%d].tool_call_id", i)
	default:
		answers[id] = i
	}
}

func without(ids []string, id string) []string {
	var rest []string
	for _, other := range ids {
		if other != id {
			rest = append(rest, other)
		}
	}
	return rest
}

func (j *judge) unanswered(open []string, caller int) {
	if len(open) > 0 {
		r := j.refuse("chat.result.missing", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
		r.Param = fmt.Sprintf("messages.[%d].role", caller)
	}
}

// chatCalls judges the calls of an assistant's message and returns their ids.
func (j *judge) chatCalls(at string, m object) []string {
	calls, ok := m["tool_calls"].([]any)
	if ok && len(calls) == 0 {
		j.empty("chat.calls", at+".tool_calls")
	}
	most := 64
	if j.limits.ShortIDs {
		most = 40
	}
	var ids []string
	for i, v := range calls {
		call, at := fields(v), fmt.Sprintf("%s.tool_calls[%d]", at, i)
		if text(call["id"]) == "" {
			j.missing("chat.call.id", at+".id")
		}
		j.long("chat.call.id.length", at+".id", call["id"], most)
		j.name("chat.call.name", at+".function.name", fields(call["function"])["name"], 64)
		j.arguments("chat.call.arguments", at+".function.arguments", fields(call["function"])["arguments"])
		ids = append(ids, text(call["id"]))
	}
	return ids
}

func (j *judge) chatContent(i int, at, role string, m object) {
	types := "text image_url input_audio file"
	switch role {
	case "assistant":
		types = "text refusal"
	case "tool", "system", "developer":
		types = "text"
	}
	switch content := m["content"].(type) {
	case string:
		j.long("chat.text.length", at+".content", content, longest)
	case []any:
		if len(content) == 0 {
			j.empty("chat.content.empty", at+".content")
		}
		for k, v := range content {
			part, at := fields(v), fmt.Sprintf("%s.content[%d]", at, k)
			kind := text(part["type"])
			if !oneOf(kind, types) {
				j.invalid("chat.part", at+".type", kind, types)
				continue
			}
			if kind == "text" && !isText(part["text"]) {
				j.missing("chat.part.text", at+".text")
			}
			if kind == "image_url" {
				j.picture("chat", text(fields(part["image_url"])["url"]))
			}
		}
	case nil:
		if role != "assistant" || (m["tool_calls"] == nil && m["function_call"] == nil && m["audio"] == nil) {
			r := j.refuse("chat.content.null", "Invalid value for 'content': expected a string, got null.")
			r.Param = fmt.Sprintf("messages.[%d].content", i)
		}
	default:
		r := j.refuse("chat.content", "Invalid type for '%s.content': expected one of a string or array of objects, but got an object instead.", at)
		r.Param, r.Code = at+".content", "invalid_type"
	}
}

func (j *judge) chatTools(request object) {
	tools := list(request["tools"])
	if len(tools) > 128 {
		r := j.refuse("chat.tools", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(tools))
		r.Param, r.Code = "tools", "array_above_max_length"
	}
	for i, t := range tools {
		j.name("chat.tool.name", fmt.Sprintf("tools[%d].function.name", i), fields(fields(t)["function"])["name"], 64)
	}
}

func (j *judge) responses(request object) {
	if _, ok := request["model"]; !ok {
		j.missing("responses.required", "model")
	}
	j.long("responses.text.length", "input", request["input"], longest)
	items := list(request["input"])
	calls, outputs, had := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, v := range items {
		switch item := fields(v); text(item["type"]) {
		case "function_call":
			calls[text(item["call_id"])] = true
		case "function_call_output":
			outputs[text(item["call_id"])] = true
		}
	}
	for i, v := range items {
		item, at := fields(v), fmt.Sprintf("input[%d]", i)
		if id := text(item["id"]); id != "" && text(item["type"]) != "item_reference" {
			if had[id] {
				r := j.refuse("responses.unique", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)
				r.Param = "input"
			}
			had[id] = true
		}
		switch kind := text(item["type"]); kind {
		case "", "message":
			j.responsesMessage(at, item)
		case "function_call":
			j.responsesID(at, item, "fc")
			j.responsesCallID(at, item)
			j.name("responses.call.name", at+".name", item["name"], 128)
			j.arguments("responses.call.arguments", at+".arguments", item["arguments"])
			if id := text(item["call_id"]); !outputs[id] {
				r := j.refuse("responses.result.missing", "No tool output found for function call %s.", id)
				r.Param = "input"
			}
		case "function_call_output":
			j.responsesCallID(at, item)
			if id := text(item["call_id"]); !calls[id] {
				r := j.refuse("responses.result.unexpected", "No tool call found for function call output with call_id %s.", id)
				r.Param = "input"
			}
			j.responsesOutput(at, item)
		case "reasoning":
			j.responsesReasoning(at, items, i, request["store"] == false)
		}
	}
	for i, t := range list(request["tools"]) {
		if text(fields(t)["type"]) == "function" {
			j.name("responses.tool.name", fmt.Sprintf("tools[%d].name", i), fields(t)["name"], 128)
		}
	}
}

// responsesID judges the id of an item, which the API made.
func (j *judge) responsesID(at string, item object, prefix string) {
	id := text(item["id"])
	switch {
	case id == "":
	case !strings.HasPrefix(id, prefix):
		r := j.refuse("responses.id", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", at, id, prefix)
		r.Param, r.Code = at+".id", "invalid_value"
	case !word(id, "_-"):
		r := j.refuse("responses.id", "Invalid '%s.id': '%s'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.", at, id)
		r.Param, r.Code = at+".id", "invalid_value"
	}
}

func (j *judge) responsesCallID(at string, item object) {
	if text(item["call_id"]) == "" {
		j.missing("responses.call_id", at+".call_id")
	}
	j.long("responses.call_id.length", at+".call_id", item["call_id"], 64)
}

func (j *judge) responsesMessage(at string, item object) {
	role, types := text(item["role"]), "input_text input_image input_file"
	switch role {
	case "assistant":
		types = "output_text refusal"
	case "user", "system", "developer":
	default:
		j.invalid("responses.role", at+".role", role, "assistant system developer user")
		return
	}
	switch content := item["content"].(type) {
	case string:
		j.long("responses.text.length", at+".content", content, longest)
	case []any:
		j.responsesParts(at+".content", types, content)
	default:
		j.missing("responses.content", at+".content")
	}
}

func (j *judge) responsesOutput(at string, item object) {
	switch output := item["output"].(type) {
	case string:
		j.long("responses.text.length", at+".output", output, longest)
	case []any:
		j.responsesParts(at+".output", "input_text input_image input_file", output)
	default:
		j.missing("responses.output", at+".output")
	}
}

func (j *judge) responsesParts(at, types string, parts []any) {
	for i, v := range parts {
		part, at := fields(v), fmt.Sprintf("%s[%d]", at, i)
		kind := text(part["type"])
		if !oneOf(kind, types) {
			j.invalid("responses.part", at+".type", kind, types)
			continue
		}
		switch kind {
		case "input_text", "output_text":
			if !isText(part["text"]) {
				j.missing("responses.part.text", at+".text")
			}
			j.long("responses.text.length", at+".text", part["text"], longest)
		case "input_image":
			j.long("responses.image.length", at+".image_url", part["image_url"], 20<<20)
			j.picture("responses", text(part["image_url"]))
		}
	}
}

// responsesReasoning judges the reasoning at items[i]; in a request without a store it
// carries its content encrypted.
func (j *judge) responsesReasoning(at string, items []any, i int, stateless bool) {
	item := fields(items[i])
	id := text(item["id"])
	j.responsesID(at, item, "rs")
	for _, name := range []string{"id", "summary"} {
		if item[name] == nil {
			j.missing("responses.reasoning", at+"."+name)
		}
	}
	switch encrypted := text(item["encrypted_content"]); {
	case encrypted == "" && stateless:
		r := j.refuse("responses.reasoning.stored", "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
		r.Status, r.Param = 404, "input"
	case encrypted != "" && !strings.HasPrefix(encrypted, "gAAAA"):
		r := j.refuse("responses.reasoning.encrypted", "The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", id)
		r.Code = "invalid_encrypted_content"
	}
	if !followed(items[i+1:]) {
		r := j.refuse("responses.reasoning.follower", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
		r.Param = "input"
	}
}

// followed reports whether the model's next item after a reasoning, but for further
// reasoning, is a message or a call of its own.
func followed(rest []any) bool {
	for _, v := range rest {
		switch next := fields(v); text(next["type"]) {
		case "reasoning":
		case "", "message":
			return text(next["role"]) == "assistant"
		case "function_call_output":
			return false
		default:
			return true
		}
	}
	return false
}
