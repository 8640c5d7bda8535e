package strict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// answer returns an answer as one JSON object and as the events of a stream.
func (a API) answer(answer Answer, model string) (whole any, events []event) {
	switch a {
	case Anthropic:
		return answerAnthropic(answer, model)
	case Responses:
		return answerResponses(answer, model)
	case Gemini:
		return answerGemini(answer, model)
	}
	return object{"object": "chat.completion"}, nil // nobody speaks with it
}

// chunks cuts a text into parts of at most size bytes, between characters.
func chunks(s string, size int) []string {
	var parts []string
	for size > 0 && len(s) > size {
		end := size
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		if end == 0 {
			_, end = utf8.DecodeRuneInString(s)
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return append(parts, s)
}

// with returns a copy of o with more fields.
func with(o, more object) object {
	o = maps.Clone(o)
	maps.Copy(o, more)
	return o
}

func answerAnthropic(answer Answer, model string) (any, []event) {
	stop := "end_turn"
	if slices.ContainsFunc(answer.Parts, func(p Part) bool { return p.kind == "call" }) {
		stop = "tool_use"
	}
	usage := object{"input_tokens": 10, "output_tokens": 5}
	message := object{"id": "msg_" + answer.id, "type": "message", "role": "assistant", "model": model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	events := []event{{"message_start", object{"type": "message_start", "message": message}}}
	var content []any
	for i, p := range answer.Parts {
		var block, begin object
		var deltas []object
		add := func(kind, field, s string) {
			for _, c := range chunks(s, answer.Chunk) {
				deltas = append(deltas, object{"type": kind, field: c})
			}
		}
		switch p.kind {
		case "text":
			block, begin = object{"type": "text", "text": p.text}, object{"type": "text", "text": ""}
			add("text_delta", "text", p.text)
		case "thinking":
			block, begin = object{"type": "thinking", "thinking": p.text, "signature": p.signature}, object{"type": "thinking", "thinking": "", "signature": ""}
			add("thinking_delta", "thinking", p.text)
			deltas = append(deltas, object{"type": "signature_delta", "signature": p.signature})
		case "call":
			begin = object{"type": "tool_use", "id": p.id, "name": p.name, "input": object{}}
			block = with(begin, object{"input": json.RawMessage(p.text)})
			add("input_json_delta", "partial_json", p.text)
		}
		content = append(content, block)
		events = append(events, event{"content_block_start", object{"type": "content_block_start", "index": i, "content_block": begin}})
		for _, d := range deltas {
			events = append(events, event{"content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d}})
		}
		events = append(events, event{"content_block_stop", object{"type": "content_block_stop", "index": i}})
	}
	events = append(events,
		event{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}}},
		event{"message_stop", object{"type": "message_stop"}})
	return with(message, object{"content": content, "stop_reason": stop}), events
}

func answerResponses(answer Answer, model string) (any, []event) {
	response := object{"id": "resp_" + answer.id, "object": "response", "created_at": 1, "status": "in_progress", "model": model, "output": []any{}, "error": nil, "parallel_tool_calls": true, "tools": []any{}, "tool_choice": "auto"}
	var events []event
	emit := func(name string, data object) {
		events = append(events, event{name, with(data, object{"type": name, "sequence_number": len(events)})})
	}
	emit("response.created", object{"response": response})
	var output []any
	for i, p := range answer.Parts {
		var item, begin object
		at := object{"output_index": i}
		switch p.kind {
		case "thinking":
			item = object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", i), "summary": []any{object{"type": "summary_text", "text": p.text}}, "encrypted_content": p.signature}
			emit("response.output_item.added", with(at, object{"item": with(item, object{"summary": []any{}, "encrypted_content": ""})}))
		case "text":
			id := fmt.Sprintf("msg_%d", i)
			part := func(s string) object { return object{"type": "output_text", "text": s, "annotations": []any{}} }
			begin = object{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []any{}}
			item = with(begin, object{"status": "completed", "content": []any{part(p.text)}})
			at = with(at, object{"item_id": id, "content_index": 0})
			emit("response.output_item.added", object{"output_index": i, "item": begin})
			emit("response.content_part.added", with(at, object{"part": part("")}))
			for _, c := range chunks(p.text, answer.Chunk) {
				emit("response.output_text.delta", with(at, object{"delta": c}))
			}
			emit("response.output_text.done", with(at, object{"text": p.text}))
			emit("response.content_part.done", with(at, object{"part": part(p.text)}))
		case "call":
			id := fmt.Sprintf("fc_%d", i)
			begin = object{"type": "function_call", "id": id, "call_id": p.id, "name": p.name, "arguments": "", "status": "in_progress"}
			item = with(begin, object{"arguments": p.text, "status": "completed"})
			at = with(at, object{"item_id": id})
			emit("response.output_item.added", object{"output_index": i, "item": begin})
			for _, c := range chunks(p.text, answer.Chunk) {
				emit("response.function_call_arguments.delta", with(at, object{"delta": c}))
			}
			emit("response.function_call_arguments.done", with(at, object{"arguments": p.text, "name": p.name}))
		}
		emit("response.output_item.done", object{"output_index": i, "item": item})
		output = append(output, item)
	}
	whole := with(response, object{
		"status": "completed", "output": output,
		"usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}},
	})
	emit("response.completed", object{"response": whole})
	return whole, events
}

func answerGemini(answer Answer, model string) (any, []event) {
	usage := object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
	response := func(parts []any, finish object) object {
		candidate := with(object{"index": 0, "content": object{"role": "model", "parts": parts}}, finish)
		return object{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": model, "responseId": answer.id}
	}
	var events []event
	var whole []any
	for _, p := range answer.Parts {
		signed := object{}
		if p.signature != "" {
			signed["thoughtSignature"] = p.signature
		}
		if p.kind == "call" {
			part := with(signed, object{"functionCall": object{"id": p.id, "name": p.name, "args": json.RawMessage(p.text)}})
			whole = append(whole, part)
			events = append(events, event{data: response([]any{part}, nil)})
			continue
		}
		more := object{}
		if p.kind == "thinking" {
			more["thought"] = true
		}
		whole = append(whole, with(with(signed, more), object{"text": p.text}))
		for _, c := range chunks(p.text, answer.Chunk) {
			events = append(events, event{data: response([]any{with(more, object{"text": c})}, nil)})
		}
		if p.signature != "" { // it comes alone
			events = append(events, event{data: response([]any{with(with(signed, more), object{"text": ""})}, nil)})
		}
	}
	stop := object{"finishReason": "STOP"}
	if len(events) > 0 {
		last := events[len(events)-1].data["candidates"].([]any)[0].(object)
		maps.Copy(last, stop)
	}
	return response(whole, stop), events
}
