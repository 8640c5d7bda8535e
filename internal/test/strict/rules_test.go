package strict

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a request that one rule alone refuses, and one that just keeps to it.
type sample struct {
	rule      string
	limits    Limits
	bad, good string
}

func user(content string) string      { return `{"role":"user","content":` + content + `}` }
func assistant(content string) string { return `{"role":"assistant","content":` + content + `}` }

// messages returns a request to Anthropic or to Chat with these messages.
func messages(m ...string) string {
	return `{"model":"m","max_tokens":9,"messages":[` + strings.Join(m, ",") + `]}`
}

func input(items ...string) string {
	return `{"model":"m","store":false,"input":[` + strings.Join(items, ",") + `]}`
}

func contents(c ...string) string { return `{"contents":[` + strings.Join(c, ",") + `]}` }
func says(parts ...string) string {
	return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`
}

func model(parts ...string) string {
	return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
}

func quote(s string) string { return `"` + s + `"` }

func repeat(s string, n int) string {
	return strings.TrimSuffix(strings.Repeat(s+",", n), ",")
}

// Parts of requests.
const (
	use    = `{"type":"tool_use","id":"t1","name":"f","input":{}}`
	use2   = `{"type":"tool_use","id":"t2","name":"f","input":{}}`
	result = `{"type":"tool_result","tool_use_id":"t1","content":"r"}`
	saying = `{"type":"text","text":"a"}`
	search = `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`
	think  = `{"type":"thinking","thinking":"","signature":"c2ln"}`

	toolCall   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	toolResult = `{"role":"tool","tool_call_id":"c1","content":"r"}`

	call      = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	output    = `{"type":"function_call_output","call_id":"c1","output":"r"}`
	reasoning = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAx"}`
	answered  = `{"role":"assistant","content":[{"type":"output_text","text":"a"}]}`

	word1     = `{"text":"a"}`
	function  = `{"functionCall":{"name":"f","args":{}}}`
	signed    = `{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}`
	responded = `{"functionResponse":{"name":"f","response":{}}}`
)

// drawn returns a picture of that kind and size as base64, filled with zeros to size
// bytes of base64.
func drawn(kind string, width, height, size int) string {
	var b bytes.Buffer
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})
	switch kind {
	case "png":
		_ = png.Encode(&b, m)
	case "jpeg":
		_ = jpeg.Encode(&b, m, nil)
	case "gif":
		_ = gif.Encode(&b, m, nil)
	}
	raw := append(b.Bytes(), make([]byte, max(0, size/4*3-b.Len()))...)
	return base64.StdEncoding.EncodeToString(raw)
}

// film returns a GIF of that many frames.
func film(frames int) string {
	var b bytes.Buffer
	g := gif.GIF{}
	for range frames {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}))
		g.Delay = append(g.Delay, 1)
	}
	_ = gif.EncodeAll(&b, &g)
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// shown returns a block of Anthropic with a picture.
func shown(media, data string) string {
	return `{"type":"image","source":{"type":"base64","media_type":"` + media + `","data":"` + data + `"}}`
}

func seen(media, data string) string {
	return `{"type":"image_url","image_url":{"url":"data:` + media + `;base64,` + data + `"}}`
}

func looked(url string) string {
	return `{"role":"user","content":[{"type":"input_image","image_url":"` + url + `"}]}`
}

func inline(media, data string) string {
	return `{"inlineData":{"mimeType":"` + media + `","data":"` + data + `"}}`
}

func samples() []sample {
	dot := drawn("png", 1, 1, 0)
	long := strings.Repeat("x", 10<<20)
	id := strings.Repeat("x", 64)
	tools := func(form string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(form, fmt.Sprintf("f%d", i)))
		}
		return strings.Join(all, ",")
	}
	more := func(request, fields string) string { return strings.TrimSuffix(request, "}") + "," + fields + "}" }
	hello, none := messages(user(`"a"`)), Limits{}
	asked := input(user(`"a"`))
	enabled := `"thinking":{"type":"enabled","budget_tokens":1024}`
	document := func(media, data string) string {
		return messages(user(`[{"type":"document","source":{"type":"base64","media_type":"` + media + `","data":"` + data + `"}}]`))
	}
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.7"))
	ran := func(use, result string) string {
		return messages(user(`"a"`), assistant("["+use+"]"), user("["+result+"]"))
	}
	hosted := func(h Host) Limits { return Limits{Host: h} }
	marked := `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`
	chatTool, tool, flat := `{"type":"function","function":{"name":"%s"}}`, `{"name":"%s","input_schema":{}}`, `{"type":"function","name":"%s"}`
	called := func(call string) string {
		return messages(user(`"a"`), strings.Replace(toolCall, `{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`, call, 1), toolResult)
	}
	did := contents(says(word1), model(function), says(responded))
	return []sample{
		{"anthropic.json", none, messages(user(`"a\ud83d"`)), messages(user(`"a\ud83d\ude00 \\ud83d"`))},
		{"anthropic.json", none, `[]`, hello},
		{"anthropic.required", none, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, hello},
		{"anthropic.messages", none, messages(), hello},
		{"anthropic.role", none, messages(user(`"a"`), `{"role":"tool","content":"a"}`), messages(user(`"a"`), assistant(`"a"`))},
		{"anthropic.role", none, messages(`{"role":"system","content":"a"}`, user(`"a"`)), more(hello, `"system":"a"`)},
		{"anthropic.first", hosted(Bedrock), messages(assistant(`"a"`), user(`"a"`)), hello},
		{"anthropic.alternate", hosted(Bedrock), messages(user(`"a"`), user(`"a"`)), messages(user(`"a"`), assistant(`"a"`), user(`"a"`))},
		{"anthropic.content", none, messages(user(`7`)), hello},
		{"anthropic.type", none, messages(user(`[{"type":"image_url"}]`)), messages(user("[" + saying + "]"))},
		{"anthropic.empty", none, messages(user(`[]`)), messages(user(`"a"`), assistant(`[]`), user(`"a"`))},
		{"anthropic.empty", none, messages(user(`""`)), messages(user(`"a"`), assistant(`""`), user(`"a"`))},
		{"anthropic.text", none, messages(user(`[` + saying + `,{"type":"text"}]`)), messages(user("[" + saying + "]"))},
		{"anthropic.text.empty", none, messages(user(`[` + saying + `,{"type":"text","text":""}]`)), messages(user(`[` + saying + `,{"type":"text","text":" "}]`))},
		{"anthropic.blank", none, messages(user(`" \n"`)), messages(user(`" \na"`))},
		{"anthropic.blank", none, messages(user(`"a"`), assistant(`[{"type":"text","text":"\t"}]`), user(`"a"`)), ran(`{"type":"text","text":"\t"},`+use, result)},
		{"anthropic.tool_use.role", none, messages(user("[" + use + "]")), ran(use, result)},
		{"anthropic.tool_result.role", none, messages(user(`"a"`), assistant("["+result+"]")), ran(use, result)},
		{"anthropic.tool_result.type", none, ran(use, `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image_url"}]}`), ran(use, `{"type":"tool_result","tool_use_id":"t1","content":[]}`)},
		{"anthropic.id", none, strings.ReplaceAll(ran(use, result), "t1", "t:1"), strings.ReplaceAll(ran(use, result), "t1", "_-T0")},
		{"anthropic.id", none, strings.ReplaceAll(ran(use, result), "t1", ""), strings.ReplaceAll(ran(use, result), "t1", strings.Repeat("t", 500))},
		{"anthropic.id.unique", none, ran(use+","+use, result), ran(use+","+use2, result+","+strings.ReplaceAll(result, "t1", "t2"))},
		{"anthropic.id.unique", none, messages(assistant("["+use+"]"), user("["+result+"]"), assistant("["+use+"]"), user("["+result+"]")), messages(assistant("["+use+"]"), user("["+result+"]"), assistant("["+use2+"]"), user("["+strings.ReplaceAll(result, "t1", "t2")+"]"))},
		{"anthropic.tool_use.name", none, ran(strings.Replace(use, `"f"`, quote(strings.Repeat("f", 201)), 1), result), ran(strings.Replace(use, `"f"`, quote(strings.Repeat("f", 200)), 1), result)},
		{"anthropic.tool_use.name", none, ran(strings.Replace(use, `"f"`, `""`, 1), result), ran(strings.Replace(use, `"f"`, `"a.b"`, 1), result)},
		{"anthropic.tool_use.input", none, ran(strings.Replace(use, `{}`, `"{}"`, 1), result), ran(use, result)},
		{"anthropic.result.missing", none, messages(user(`"a"`), assistant("["+use+"]"), user(`"a"`)), ran(use, result+","+saying)},
		{"anthropic.result.missing", none, messages(user(`"a"`), assistant("["+use+"]")), ran(use, result)},
		{"anthropic.result.first", none, ran(use, saying+","+result), ran(use, result+","+saying)},
		{"anthropic.result.unexpected", none, messages(user("[" + result + "]")), ran(use, result)},
		{"anthropic.result.twice", none, ran(use, result+","+result), ran(use, result)},
		{"anthropic.server_tool", none, messages(user(`"a"`), assistant("["+search+"]"), user(`"b"`)), messages(user(`"a"`), assistant("["+search+"]"))},
		{"anthropic.server_tool", none, ran(search+","+use, result+`,{"type":"text","text":"b"}`), ran(search+","+use, result)},
		{"anthropic.prefill", Limits{NoPrefill: true}, messages(user(`"a"`), assistant(`"a"`)), messages(user(`"a"`), assistant("["+search+"]"))},
		{"anthropic.thinking.fields", none, ran(`{"type":"thinking","thinking":"a"},`+use, result), ran(think+","+use, result)},
		{"anthropic.thinking.fields", none, ran(`{"type":"redacted_thinking"},`+use, result), ran(`{"type":"redacted_thinking","data":"x"},`+use, result)},
		{"anthropic.thinking.signature", none, ran(strings.Replace(think, "c2ln", "", 1)+","+use, result), ran(think+","+use, result)},
		{"anthropic.thinking.last", none, messages(user(`"a"`), assistant("["+saying+","+think+"]"), user(`"a"`)), messages(user(`"a"`), assistant("["+think+","+saying+"]"), user(`"a"`))},
		{"anthropic.thinking.first", none, more(ran(use, result), enabled), more(ran(think+","+use, result), enabled)},
		{"anthropic.end.thinking", none, messages(user(`"a"`), assistant("["+think+","+saying+"]")), more(messages(user(`"a"`), assistant("["+think+","+saying+"]")), enabled)},
		{"anthropic.end.space", none, messages(user(`"a"`), assistant(`"a "`)), messages(user(`"a "`), assistant(`"a"`))},
		{"anthropic.image", none, messages(user("[" + shown("image/png", "AAAA") + "]")), messages(user("[" + shown("image/png", dot) + "]"))},
		{"anthropic.image.source", none, messages(user(`[{"type":"image"}]`)), messages(user(`[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]`))},
		{"anthropic.image.type", none, messages(user("[" + shown("image/bmp", dot) + "]")), messages(user("[" + shown("image/gif", drawn("gif", 1, 1, 0)) + "]"))},
		{"anthropic.image.match", none, messages(user("[" + shown("image/jpeg", dot) + "]")), messages(user("[" + shown("image/jpeg", drawn("jpeg", 1, 1, 0)) + "]"))},
		{"anthropic.image.match", none, ran(use, `{"type":"tool_result","tool_use_id":"t1","content":[`+shown("image/webp", dot)+`]}`), ran(use, `{"type":"tool_result","tool_use_id":"t1","content":[`+shown("image/png", dot)+`]}`)},
		{"anthropic.image.size", none, messages(user("[" + shown("image/png", drawn("png", 1, 1, 10<<20+4)) + "]")), messages(user("[" + shown("image/png", drawn("png", 1, 1, 10<<20)) + "]"))},
		{"anthropic.image.size", hosted(Vertex), messages(user("[" + shown("image/png", drawn("png", 1, 1, 5<<20+4)) + "]")), messages(user("[" + shown("image/png", drawn("png", 1, 1, 5<<20)) + "]"))},
		{"anthropic.image.pixels", none, messages(user("[" + shown("image/png", drawn("png", 8001, 1, 0)) + "]")), messages(user("[" + repeat(shown("image/png", drawn("png", 8000, 1, 0)), 20) + "]"))},
		{"anthropic.image.many", none, messages(user("[" + repeat(shown("image/png", dot), 20) + "," + shown("image/png", drawn("png", 1, 2001, 0)) + "]")), messages(user("[" + repeat(shown("image/png", drawn("png", 1, 2000, 0)), 21) + "]"))},
		{"anthropic.image.count", none, messages(user("[" + repeat(shown("image/png", dot), 601) + "]")), messages(user("[" + repeat(shown("image/png", dot), 600) + "]"))},
		{"anthropic.image.count", Limits{Window200k: true}, messages(user("[" + repeat(shown("image/png", dot), 101) + "]")), messages(user("[" + repeat(shown("image/png", dot), 100) + "]"))},
		{"anthropic.document.type", none, document("text/plain", pdf), document("application/pdf", pdf)},
		{"anthropic.document", none, document("application/pdf", dot), document("application/pdf", pdf)},
		{"anthropic.tool.name", none, more(hello, `"tools":[`+fmt.Sprintf(tool, strings.Repeat("f", 129))+`]`), more(hello, `"tools":[`+fmt.Sprintf(tool, strings.Repeat("f", 128))+`]`)},
		{"anthropic.tool.unique", none, more(hello, `"tools":[`+repeat(fmt.Sprintf(tool, "f"), 2)+`]`), more(hello, `"tools":[`+tools(tool, 2)+`]`)},
		{"anthropic.cache", none, messages(user("[" + repeat(marked, 5) + "]")), messages(user("[" + repeat(marked, 4) + "]"))},

		{"chat.json", none, `7`, hello},
		{"chat.required", none, `{"messages":[{"role":"user","content":"a"}]}`, hello},
		{"chat.messages", none, messages(), hello},
		{"chat.role", none, messages(`{"role":"model","content":"a"}`), messages(`{"role":"developer","content":"a"}`)},
		{"chat.content", none, messages(user(`{}`)), hello},
		{"chat.content.null", none, messages(assistant(`null`)), messages(assistant(`""`))},
		{"chat.content.empty", none, messages(assistant(`[]`)), messages(assistant(`[{"type":"text","text":""}]`))},
		{"chat.part", none, messages(toolCall, strings.Replace(toolResult, `"r"`, "["+seen("image/png", dot)+"]", 1)), messages(toolCall, strings.Replace(toolResult, `"r"`, "["+saying+"]", 1))},
		{"chat.part", none, messages(assistant(`[{"type":"thinking","thinking":"a"}]`)), messages(assistant(`[{"type":"refusal","refusal":"a"}]`))},
		{"chat.part.text", none, messages(user(`[{"type":"text"}]`)), messages(user("[" + saying + "]"))},
		{"chat.text.length", none, messages(user(quote(long + "x"))), messages(user(quote(long)))},
		{"chat.calls", none, messages(`{"role":"assistant","content":"a","tool_calls":[]}`), messages(assistant(`"a"`))},
		{"chat.call.id", none, strings.ReplaceAll(messages(toolCall, toolResult), "c1", ""), messages(toolCall, toolResult)},
		{"chat.call.id.length", none, strings.ReplaceAll(messages(toolCall, toolResult), "c1", id+"x"), strings.ReplaceAll(messages(toolCall, toolResult), "c1", id)},
		{"chat.call.id.length", Limits{ShortIDs: true}, strings.ReplaceAll(messages(toolCall, toolResult), "c1", id[:41]), strings.ReplaceAll(messages(toolCall, toolResult), "c1", id[:40])},
		{"chat.call.name", none, called(`{"id":"c1","type":"function","function":{"name":"a b","arguments":""}}`), called(`{"id":"c1","type":"function","function":{"name":"a_-b","arguments":""}}`)},
		{"chat.call.name", none, called(`{"id":"c1","type":"function","function":{"name":"` + id + `x","arguments":""}}`), called(`{"id":"c1","type":"function","function":{"name":"` + id + `","arguments":""}}`)},
		{"chat.call.arguments", none, called(`{"id":"c1","type":"function","function":{"name":"f","arguments":{}}}`), called(`{"id":"c1","type":"function","function":{"name":"f","arguments":"{"}}`)},
		{"chat.result.id", none, messages(user(`"a"`), `{"role":"tool","content":"a"}`), messages(toolCall, toolResult)},
		{"chat.result.missing", none, messages(toolCall, user(`"a"`)), messages(toolCall, toolResult, user(`"a"`))},
		{"chat.result.missing", none, messages(toolCall), messages(toolCall, toolResult)},
		{"chat.result.unexpected", none, messages(toolCall, toolResult, user(`"a"`), toolResult), messages(toolCall, toolResult)},
		{"chat.result.twice", none, messages(toolCall, toolResult, toolResult), messages(toolCall, toolResult)},
		{"chat.image", none, messages(user("[" + seen("image/png", "Qk0AAA==") + "]")), messages(user("[" + seen("image/jpeg", dot) + "]"))},
		{"chat.image", none, messages(user("[" + seen("image/gif", film(2)) + "]")), messages(user("[" + seen("image/gif", film(1)) + "]"))},
		{"chat.image.count", none, messages(user("[" + repeat(seen("image/png", dot), 1501) + "]")), messages(user("[" + repeat(seen("image/png", dot), 1500) + "]"))},
		{"chat.tools", none, more(hello, `"tools":[`+tools(chatTool, 129)+`]`), more(hello, `"tools":[`+tools(chatTool, 128)+`]`)},
		{"chat.tool.name", none, more(hello, `"tools":[`+fmt.Sprintf(chatTool, id+"x")+`]`), more(hello, `"tools":[`+fmt.Sprintf(chatTool, id)+`]`)},

		{"responses.json", none, `{`, asked},
		{"responses.required", none, `{"input":"a"}`, `{"model":"m","input":"a"}`},
		{"responses.role", none, input(`{"role":"tool","content":"a"}`), input(`{"role":"developer","content":"a"}`)},
		{"responses.content", none, input(`{"role":"user"}`), asked},
		{"responses.part", none, input(assistant(`[{"type":"input_text","text":"a"}]`)), input(assistant(`[{"type":"output_text","text":""}]`))},
		{"responses.part", none, input(user(`[{"type":"text","text":"a"}]`)), input(user(`[{"type":"input_text","text":""}]`))},
		{"responses.part.text", none, input(user(`[{"type":"input_text"}]`)), input(user(`[{"type":"input_text","text":"a"}]`))},
		{"responses.text.length", none, input(call, strings.Replace(output, `"r"`, quote(long+"x"), 1)), input(call, strings.Replace(output, `"r"`, quote(long), 1))},
		{"responses.id", none, input(strings.Replace(call, `"call_id"`, `"id":"c1","call_id"`, 1), output), input(strings.Replace(call, `"call_id"`, `"id":"fc_1","call_id"`, 1), output)},
		{"responses.id", none, input(strings.Replace(reasoning, "rs_1", "rs|1", 1), answered), input(reasoning, answered)},
		{"responses.unique", none, input(reasoning, answered, reasoning, answered), input(reasoning, answered, strings.Replace(reasoning, "rs_1", "rs_2", 1), answered)},
		{"responses.call_id", none, strings.ReplaceAll(input(call, output), "c1", ""), input(call, output)},
		{"responses.call_id.length", none, strings.ReplaceAll(input(call, output), "c1", id+"x"), strings.ReplaceAll(input(call, output), "c1", id)},
		{"responses.call.name", none, input(strings.Replace(call, `"f"`, quote(id+id+"x"), 1), output), input(strings.Replace(call, `"f"`, quote(id+id), 1), output)},
		{"responses.call.name", none, input(strings.Replace(call, `"f"`, `"a.b"`, 1), output), input(call, output)},
		{"responses.call.arguments", none, input(strings.Replace(call, `"{}"`, `{}`, 1), output), input(strings.Replace(call, `"{}"`, `"{"`, 1), output)},
		{"responses.output", none, input(call, strings.Replace(output, `"r"`, `null`, 1)), input(call, strings.Replace(output, `"r"`, `[]`, 1))},
		{"responses.result.missing", none, input(call, user(`"a"`)), input(call, user(`"a"`), output)},
		{"responses.result.unexpected", none, input(user(`"a"`), output), input(call, output)},
		{"responses.reasoning", none, input(strings.Replace(reasoning, `"summary":[],`, ``, 1), answered), input(reasoning, answered)},
		{"responses.reasoning.stored", none, input(strings.Replace(reasoning, "gAAAAx", "", 1), answered), strings.Replace(input(strings.Replace(reasoning, "gAAAAx", "", 1), answered), "false", "true", 1)},
		{"responses.reasoning.encrypted", none, input(strings.Replace(reasoning, "gAAAAx", "c2ln", 1), answered), input(reasoning, answered)},
		{"responses.reasoning.follower", none, input(reasoning, user(`"a"`)), input(reasoning, strings.Replace(reasoning, "rs_1", "rs_2", 1), call, output)},
		{"responses.reasoning.follower", none, input(reasoning), input(reasoning, answered)},
		{"responses.image", none, input(looked("data:image/png;base64,Qk0AAA==")), input(looked("https://example.com/a.png"))},
		{"responses.image.length", none, input(looked("data:image/png;base64," + drawn("png", 1, 1, 20<<20))), input(looked("data:image/png;base64," + drawn("png", 1, 1, 20<<20-24)))},
		{"responses.image.count", none, input(repeat(looked("data:image/png;base64,"+dot), 1501)), input(repeat(looked("data:image/png;base64,"+dot), 1500))},
		{"responses.tool.name", none, more(asked, `"tools":[`+fmt.Sprintf(flat, id+id+"x")+`]`), more(asked, `"tools":[`+fmt.Sprintf(flat, id+id)+`]`)},

		{"gemini.json", none, `null`, did},
		{"gemini.contents", none, `{}`, contents(says(word1))},
		{"gemini.role", none, contents(says(word1), `{"role":"assistant","parts":[{"text":"a"}]}`, model(word1), says(word1)), contents(`{"parts":[{"text":"a"}]}`)},
		{"gemini.parts", none, contents(says()), contents(says(word1))},
		{"gemini.part", none, contents(says(word1, `{"text":""}`)), contents(says(word1, `{"text":" "}`))},
		{"gemini.part", none, contents(says(word1), model(word1, `{"text":"","thoughtSignature":""}`), says(word1)), contents(says(word1), model(word1, `{"text":"","thoughtSignature":"c2ln"}`), says(word1))},
		{"gemini.part.one", none, contents(says(`{"text":"a","functionResponse":null,"fileData":{"fileUri":"u"}}`)), contents(says(word1, `{"fileData":{"fileUri":"u"}}`))},
		{"gemini.name", none, strings.Replace(did, `"functionResponse":{"name":"f"`, `"functionResponse":{"name":""`, 1), did},
		{"gemini.args", none, strings.Replace(did, `"args":{}`, `"args":"{}"`, 1), strings.Replace(did, `,"args":{}`, ``, 1)},
		{"gemini.response", none, strings.Replace(did, `"response":{}`, `"response":"r"`, 1), did},
		{"gemini.alternate", none, contents(says(word1), says(word1)), contents(says(word1), model(word1), says(word1))},
		{"gemini.alternate", none, contents(model(word1), says(word1)), contents(says(word1))},
		{"gemini.end", none, contents(says(word1), model(word1)), contents(says(word1))},
		{"gemini.call.order", none, contents(model(function), says(responded)), did},
		{"gemini.response.order", none, contents(says(word1), model(word1), says(responded)), did},
		{"gemini.response.number", none, contents(says(word1), model(function, function), says(responded)), contents(says(word1), model(word1, function, function), says(responded, responded, word1))},
		{"gemini.signature", Limits{Signatures: true}, did, contents(says(word1), model(function), says(responded), model(word1), says(word1), model(signed, function), says(responded, responded))},
		{"gemini.signature", Limits{Signatures: true}, did, strings.Replace(did, `"functionCall"`, `"thoughtSignature":"skip_thought_signature_validator","functionCall"`, 1)},
		{"gemini.signature.form", none, strings.Replace(contents(says(word1), model(signed), says(responded)), "c2ln", "toolu!", 1), contents(says(word1), model(signed), says(responded))},
		{"gemini.image", none, contents(says(inline("image/png", "AAAA"))), contents(says(inline("image/png", dot)))},
		{"gemini.image.type", none, contents(says(inline("image/gif", drawn("gif", 1, 1, 0)))), contents(says(inline("image/jpeg", drawn("jpeg", 1, 1, 0)), inline("application/pdf", pdf)))},
		{"gemini.image.count", none, contents(says(repeat(inline("image/png", dot), 3601))), contents(says(repeat(inline("image/png", dot), 3600)))},
		{"gemini.image.count", hosted(Vertex), contents(says(repeat(inline("image/png", dot), 3001))), contents(says(repeat(inline("image/png", dot), 3000)))},
		{"gemini.tools", none, more(did, `"tools":[{"functionDeclarations":[`+tools(tool, 513)+`]}]`), more(did, `"tools":[{"functionDeclarations":[`+tools(tool, 512)+`]}]`)},
		{"gemini.tool.name", none, more(did, `"tools":[{"functionDeclarations":[`+fmt.Sprintf(tool, "1f")+`]}]`), more(did, `"tools":[{"functionDeclarations":[`+fmt.Sprintf(tool, "_a.b:c-d")+`]}]`)},
	}
}

// apiOf returns the provider of a rule.
func apiOf(rule string) API {
	name, _, _ := strings.Cut(rule, ".")
	return API(slices.Index([]string{"anthropic", "chat", "responses", "gemini"}, name))
}

// TestRules has of each rule a request that it alone refuses, and one that just keeps to
// it.
func TestRules(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{"openai.size": true, "anthropic.size": true, "anthropic.count": true} // TestSizes
	for _, s := range samples() {
		api := apiOf(s.rule)
		tried[s.rule] = true
		found := Judge(api, s.limits, []byte(s.bad))
		require.NotEmptyf(t, found, "%s: the request is accepted: %.300s", s.rule, s.bad)
		for _, r := range found {
			require.Equalf(t, s.rule, r.Rule, "%s: %.300s", r.Message, s.bad)
			require.NotContains(t, r.Message, "%!", "a message is made of its parts")
		}
		require.Emptyf(t, Judge(api, s.limits, []byte(s.good)), "%s: %.300s", s.rule, s.good)
		require.Truef(t, json.Valid([]byte(s.good)), "%s: %.300s", s.rule, s.good)
	}
	known := map[string]bool{}
	for _, r := range Rules {
		require.Falsef(t, known[r.ID], "%s is there twice", r.ID)
		known[r.ID] = true
		require.Truef(t, tried[r.ID], "%s has no request that it refuses", r.ID)
		require.NotEmpty(t, r.Says)
		require.NotEmptyf(t, r.Sources, "%s has no source", r.ID)
		for _, source := range r.Sources {
			require.Regexp(t, regexp.MustCompile(`^https://\S+/\S+ 202[3-6]-\d\d(-\d\d)?$`), source, r.ID)
		}
		t.Logf("%-32s %s\n\t%s", r.ID, r.Says, strings.Join(r.Sources, "\n\t"))
	}
	for rule := range tried {
		require.Truef(t, known[rule], "%s is not among the rules", rule)
	}
}

// TestSizes judges numbers of bytes and messages, of which a test would hold too many.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api  API
		host Host
		most int64
		rule string
	}{
		{Anthropic, Maker, 32 << 20, "anthropic.size"},
		{Anthropic, Bedrock, 20 << 20, "anthropic.size"},
		{Anthropic, Vertex, 30 << 20, "anthropic.size"},
		{Chat, Maker, 512 << 20, "openai.size"},
		{Responses, Maker, 512 << 20, "openai.size"},
	} {
		j := &judge{api: c.api, limits: Limits{Host: c.host}}
		j.tooLarge(c.most)
		require.Empty(t, j.found)
		j.tooLarge(c.most + 1)
		require.Equal(t, c.rule, j.found[0].Rule)
	}
	j := &judge{}
	j.tooMany(100_000)
	require.Empty(t, j.found)
	j.tooMany(100_001)
	require.Equal(t, "anthropic.count", j.found[0].Rule)
	found := Judge(Anthropic, Limits{}, make([]byte, 32<<20+1))
	require.Len(t, found, 1)
	require.Equal(t, "413 request_too_large", fmt.Sprint(found[0].Status, " ", found[0].Type))
}

// TestPictures reads the sizes of WebP pictures, which the standard library does not.
func TestPictures(t *testing.T) {
	t.Parallel()
	head := func(kind string, rest ...byte) []byte {
		return append([]byte("RIFF\x00\x00\x00\x00WEBP"+kind+"\x00\x00\x00\x00"), append(rest, make([]byte, 20)...)...)
	}
	require.Equal(t, picture{kind: "webp", width: 8001, height: 256}, look(head("VP8X", 0, 0, 0, 0, 0x40, 0x1f, 0, 0xff, 0, 0)))
	require.Equal(t, picture{kind: "webp", width: 2001, height: 3}, look(head("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0xd1, 7, 3, 0)))
	require.Equal(t, picture{kind: "webp", width: 16384, height: 2}, look(head("VP8L", 0x2f, 0xff, 0x7f, 0, 0)))
	require.Equal(t, picture{kind: "heic"}, look([]byte("\x00\x00\x00\x18ftypheic")))
	require.Empty(t, look([]byte("RIFF")))
}
