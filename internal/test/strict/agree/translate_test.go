// Package agree compares slice/accept with the servers of internal/test/strict, of which
// neither knows the other.
package agree

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type object = map[string]any

// half stands for half of a surrogate pair, which Go's strings cannot hold.
const half = "<half>"

// part is one part of a message, in the terms of no provider.
type part struct {
	kind          string // text, thinking, call, result, image, other
	id, name      string // of a call or a result
	value         any    // the text, arguments, content of the result
	raw           any    // the block
	encrypted, rs string // reasoning of OpenAI
}

// row is one message, in the terms of no provider.
type row struct {
	role     string
	parts    []part
	bare     any  // content that is not a list
	injected bool // a tool wrote it in the user's name
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// first returns the first of the fields that is there.
func first(o object, names ...string) any {
	for _, name := range names {
		if v, ok := o[name]; ok {
			return v
		}
	}
	return nil
}

func callPart(v any) part {
	o, ok := v.(object)
	if !ok {
		return part{kind: "other", raw: v}
	}
	p := part{kind: "call", id: str(o["id"]), name: str(first(o, "name", "tool")), value: first(o, "arguments", "input"), raw: v}
	if f, ok := o["function"].(object); ok {
		p.name, p.value = str(f["name"]), f["arguments"]
	}
	return p
}

func blockPart(v any) part {
	o, ok := v.(object)
	if !ok {
		return part{kind: "other", raw: v}
	}
	switch o["type"] {
	case "text":
		return part{kind: "text", value: o["text"], raw: v}
	case "tool_use", "tool_call":
		return callPart(v)
	case "tool_result":
		return part{kind: "result", id: str(first(o, "tool_use_id", "tool_call_id")), value: o["content"], raw: v}
	case "image":
		return part{kind: "image", raw: v}
	case "thinking", "redacted_thinking":
		p := part{kind: "thinking", value: o["thinking"], raw: v}
		if list, ok := o["content"].([]any); ok && len(list) > 1 {
			p.encrypted, p.rs = str(list[0]), str(list[1])
		}
		return p
	}
	return part{kind: "other", raw: v}
}

func read(m sessionstore.Message) row {
	var o object
	line := strings.ReplaceAll(string(m.AppendTo(nil)), `\ud83d`, half)
	if json.Unmarshal([]byte(line), &o) != nil {
		return row{}
	}
	r := row{role: str(o["role"]), injected: !slice.IsRealUser(m)}
	if r.role == "tool" {
		r.parts = []part{{kind: "result", id: str(o["tool_call_id"]), value: o["content"]}}
		return r
	}
	if v := o["thinking_block"]; v != nil && r.role == "assistant" {
		r.parts = append(r.parts, blockPart(v))
	}
	ids := map[string]bool{}
	switch content := o["content"].(type) {
	case []any:
		for _, v := range content {
			p := blockPart(v)
			if p.kind == "call" {
				ids[p.id] = true
			}
			r.parts = append(r.parts, p)
		}
	case string:
		r.bare = content
		if content != "" || r.role != "assistant" {
			r.parts = append(r.parts, part{kind: "text", value: content})
		}
	case nil:
	default:
		r.parts = append(r.parts, part{kind: "other", raw: content})
	}
	if calls, ok := o["tool_calls"].([]any); ok && r.role == "assistant" {
		for _, v := range calls {
			if p := callPart(v); p.kind != "call" || p.id == "" || !ids[p.id] {
				r.parts = append(r.parts, p)
			}
		}
	} else if o["tool_calls"] != nil && r.role == "assistant" {
		r.parts = append(r.parts, part{kind: "other", raw: o["tool_calls"]})
	}
	return r
}

// arguments returns the arguments of a call as an object where they are one.
func arguments(v any) any {
	switch s := v.(type) {
	case nil:
		return object{}
	case string:
		if strings.TrimSpace(s) == "" {
			return object{}
		}
		var o object
		if json.Unmarshal([]byte(s), &o) == nil && o != nil {
			return o
		}
	}
	return v
}

// asText returns v if it is a string, and its JSON otherwise.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// isContent reports whether the content of a result is blocks that Anthropic has. Modules
// send other contents as a text, which is why accept does not judge them.
func isContent(v any) bool {
	list, ok := v.([]any)
	for _, e := range list {
		o, _ := e.(object)
		kind, known := o["type"].(string)
		ok = ok && known && strings.Contains(" text image document search_result tool_reference ", " "+kind+" ")
	}
	return ok
}

// pick returns the fields of o with those names.
func pick(v any, names ...string) object {
	o, picked := v.(object), object{}
	for _, name := range names {
		if e, ok := o[name]; ok {
			picked[name] = e
		}
	}
	return picked
}

// translate returns a conversation as a request to the provider, with a next prompt if it
// does not end with the user.
func translate(api strict.API, msgs []sessionstore.Message) []byte {
	var rows []row
	for _, m := range msgs {
		if r := read(m); r.role != "system" && r.role != "developer" {
			rows = append(rows, r)
		}
	}
	if n := len(rows); n > 0 && rows[n-1].role == "assistant" || n == 0 {
		rows = append(rows, row{role: "user", parts: []part{{kind: "text", value: "go on"}}})
	}
	request := [...]func([]row) object{anthropic, chat, responses, gemini}[api](rows)
	body, _ := json.Marshal(request)
	return []byte(strings.ReplaceAll(string(body), "\\u003chalf\\u003e", `\ud83d`))
}

// group is messages that are sent as one.
type group struct {
	role, kind string
	rows       []row
}

// groups joins results that follow each other, and what a tool wrote in the user's name
// with the user's message beside it.
func groups(rows []row) []group {
	var list []group
	for _, r := range rows {
		g := group{role: r.role, kind: "prompt"}
		switch {
		case r.role == "tool":
			g.role, g.kind = "user", "results"
		case slices.ContainsFunc(r.parts, func(p part) bool { return p.kind == "result" }):
			g.kind = "results"
		case r.injected:
			g.kind = "injected"
		}
		if n := len(list); n > 0 && g.role == "user" && list[n-1].role == "user" && (g.kind != "prompt" || list[n-1].kind == "injected") {
			last := &list[n-1]
			last.rows = append(last.rows, r)
			if g.kind != "injected" {
				last.kind = g.kind
			}
			continue
		}
		g.rows = []row{r}
		list = append(list, g)
	}
	return list
}

func anthropic(rows []row) object {
	var messages []any
	for _, g := range groups(rows) {
		blocks, empty := []any{}, true
		for _, r := range g.rows {
			blocks = append(blocks, anthropicBlocks(r)...)
			empty = empty && r.bare == nil && len(blocks) == 0
		}
		m := object{"role": g.role, "content": blocks}
		if empty {
			m["content"] = nil
		}
		messages = append(messages, m)
	}
	return object{"model": "m", "max_tokens": 9, "messages": messages, "thinking": object{"type": "adaptive"}}
}

func anthropicBlocks(r row) (blocks []any) {
	for _, p := range r.parts {
		switch p.kind {
		case "text":
			blocks = append(blocks, object{"type": "text", "text": p.value})
		case "call":
			blocks = append(blocks, object{"type": "tool_use", "id": p.id, "name": p.name, "input": arguments(p.value)})
		case "result":
			content := p.value
			if !isContent(content) {
				content = asText(content)
			}
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": p.id, "content": content})
		case "thinking":
			blocks = append(blocks, pick(p.raw, "type", "thinking", "signature", "data"))
		default:
			blocks = append(blocks, p.raw)
		}
	}
	return blocks
}

func chat(rows []row) object {
	var messages []any
	for _, r := range rows {
		var parts, calls []any
		flush := func() {
			if len(parts) > 0 {
				messages = append(messages, object{"role": r.role, "content": parts})
			}
			parts = nil
		}
		sent := false
		for _, p := range r.parts {
			switch p.kind {
			case "text":
				parts = append(parts, object{"type": "text", "text": p.value})
			case "call":
				calls = append(calls, object{"id": p.id, "type": "function", "function": object{"name": p.name, "arguments": callText(p.value)}})
			case "result":
				flush()
				messages = append(messages, object{"role": "tool", "tool_call_id": p.id, "content": asText(p.value)})
				sent = true
			case "image":
				if r.role != "assistant" {
					parts = append(parts, object{"type": "image_url", "image_url": object{"url": dataURL(p.raw)}})
				}
			case "other":
				if o, ok := p.raw.(object); !ok || r.role != "assistant" || o["type"] == nil {
					parts = append(parts, p.raw)
				}
			}
		}
		if r.role != "assistant" {
			if flush(); len(r.parts) == 0 && !sent {
				messages = append(messages, object{"role": r.role, "content": r.bare})
			}
			continue
		}
		m := object{"role": r.role, "content": r.bare}
		if len(parts) > 0 {
			m["content"] = parts
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		messages = append(messages, m)
	}
	return object{"model": "m", "messages": messages}
}

// callText returns the arguments of a call as OpenAI takes them.
func callText(v any) string {
	if v == nil {
		return "{}"
	}
	return asText(v)
}

func dataURL(raw any) string {
	source, _ := raw.(object)["source"].(object)
	return "data:" + str(source["media_type"]) + ";base64," + str(source["data"])
}

// responsesOutput returns the content of a result: parts where it has pictures.
func responsesOutput(v any) any {
	list, ok := v.([]any)
	if !ok || !isContent(v) {
		return asText(v)
	}
	parts := []any{}
	for _, e := range list {
		switch p := blockPart(e); p.kind {
		case "image":
			parts = append(parts, object{"type": "input_image", "image_url": dataURL(p.raw)})
		default:
			parts = append(parts, object{"type": "input_text", "text": asText(p.value)})
		}
	}
	return parts
}

func responses(rows []row) object {
	items := []any{}
	for _, r := range rows {
		kind := "input_text"
		if r.role == "assistant" {
			kind = "output_text"
		}
		say := func(content any) { items = append(items, object{"role": r.role, "content": []any{content}}) }
		for _, p := range r.parts {
			switch p.kind {
			case "text":
				say(object{"type": kind, "text": p.value})
			case "call":
				items = append(items, object{"type": "function_call", "call_id": p.id, "name": p.name, "arguments": callText(p.value)})
			case "result":
				items = append(items, object{"type": "function_call_output", "call_id": p.id, "output": responsesOutput(p.value)})
			case "image":
				if r.role != "assistant" {
					say(object{"type": "input_image", "image_url": dataURL(p.raw)})
				}
			case "thinking":
				if p.rs != "" {
					items = append(items, object{"type": "reasoning", "id": p.rs, "summary": []any{}, "encrypted_content": p.encrypted})
				}
			case "other":
				if o, ok := p.raw.(object); !ok || r.role != "assistant" || o["type"] == nil {
					say(p.raw)
				}
			}
		}
		if len(r.parts) == 0 && r.role != "assistant" {
			items = append(items, object{"role": r.role, "content": r.bare})
		}
	}
	return object{"model": "m", "store": false, "input": items}
}

func gemini(rows []row) object {
	names := map[string]string{}
	for _, r := range rows {
		for _, p := range r.parts {
			if p.kind == "call" {
				names[p.id] = p.name
			}
		}
	}
	contents := []any{}
	for _, g := range groups(rows) {
		var parts []any
		for _, r := range g.rows {
			parts = append(parts, geminiParts(r, names)...)
		}
		role := g.role
		if role == "assistant" {
			role = "model"
		}
		contents = append(contents, object{"role": role, "parts": parts})
	}
	return object{"contents": contents}
}

func geminiParts(r row, names map[string]string) (parts []any) {
	for _, p := range r.parts {
		switch p.kind {
		case "text":
			parts = append(parts, object{"text": p.value})
		case "call":
			parts = append(parts, object{"functionCall": object{"name": p.name, "args": arguments(p.value)}})
		case "result":
			name := names[p.id]
			if name == "" {
				name = "unknown"
			}
			parts = append(parts, object{"functionResponse": object{"name": name, "response": object{"output": p.value}}})
		case "image":
			source, _ := p.raw.(object)["source"].(object)
			if r.role != "assistant" {
				parts = append(parts, object{"inlineData": object{"mimeType": source["media_type"], "data": source["data"]}})
			}
		case "thinking":
			if o := p.raw.(object); o["type"] == "thinking" && o["signature"] != nil && o["signature"] != "" {
				parts = append(parts, object{"text": asText(p.value), "thought": true, "thoughtSignature": o["signature"]})
			}
		case "other":
			if o, ok := p.raw.(object); !ok || r.role != "assistant" || o["type"] == nil {
				parts = append(parts, object{})
			}
		}
	}
	return parts
}
