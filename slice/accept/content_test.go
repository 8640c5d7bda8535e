package accept_test

import (
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/slice/accept"
)

func TestAcceptsContent(t *testing.T) {
	t.Parallel()
	user := func(content string) []string { return []string{`{"role": "user", "content": ` + content + `}`, say} }
	model := func(content string) []string {
		return []string{ask, `{"role": "assistant", "content": ` + content + `}`}
	}
	for _, v := range []verdict{
		{"an empty question", user(`""`), hasOnly("empty_content@0", sides...)},
		{"a blank question", user(`" \n"`), hasOnly("empty_content@0", anthropic...)},
		{"a question without content", []string{`{"role": "user"}`}, all("empty_content@0")},
		{"no blocks", user(`[]`), all("empty_content@0")},
		{"a blank block beside a text", user(`[{"type": "text", "text": ""}, {"type": "text", "text": "t"}]`), hasOnly("blank_text@0", sides...)},
		{"nothing but a blank block", user(`[{"type": "text", "text": ""}]`), hasOnly("blank_text@0 empty_content@0", sides...)},
		{"an image", user(`[{"type": "image", "source": {"type": "url", "url": "u"}}]`), nil},
		{"a block that no provider takes", user(`[{"type": "hologram", "data": "d"}, {"type": "text", "text": "t"}]`), all("bad_block@0")},
		{"nothing but one", user(`[{"type": "hologram"}]`), all("bad_block@0 empty_content@0")},
		{"one in an answer", []string{ask, answer(`{"type": "hologram"}, {"type": "text", "text": "t"}`)}, all("bad_block@1")},
		{"one that has a text", user(`[{"type": "Text", "text": "t"}]`), all("bad_block@0")},
		{"blocks that one provider takes", user(`[{"type": "input_audio"}, {"type": "document"}, {"type": "image_url", "image_url": {"url": "u"}}, {"type": "file"}]`), nil},
		{"what a provider's own tool did", []string{ask, answer(`{"type": "server_tool_use", "id": "s"}, {"type": "web_search_tool_result"}, {"type": "text", "text": "t"}`)}, nil},
		{"a number", user(`5`), all("bad_content@0")},
		{"a block without a list", user(`{"type": "text", "text": "t"}`), all("bad_content@0")},
		{"a text among blocks", user(`["t"]`), all("bad_block@0")},
		{"a block without type", user(`[{"text": "t"}]`), all("bad_block@0")},
		{"a text that is a number", user(`[{"type": "text", "text": 5}]`), all("bad_block@0")},
		{"a call by the user", user(`[{"type": "tool_use", "id": "c1", "name": "f"}, {"type": "text", "text": "t"}]`), all("block_of_other_role@0")},
		{"a result by the assistant", model(`[{"type": "tool_result", "tool_use_id": "c1"}, {"type": "text", "text": "t"}]`), all("block_of_other_role@1")},
		{"an empty answer", model(`""`), hasOnly("empty_content@1", sides...)},
		{"no answer", model(`null`), hasOnly("empty_content@1", adjacent...)},
		{"an empty text beside calls", []string{ask, calling("c1"), result("c1")}, nil},
		{"a blank text beside calls", []string{ask, strings.Replace(calling("c1"), `""`, `" "`, 1), result("c1")}, hasOnly("blank_text@1", anthropic...)},
		{
			"a blank block beside a call",
			[]string{ask, answer(`{"type": "text", "text": ""}, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}`), result("c1")},
			hasOnly("blank_text@1", sides...),
		},
	} {
		v.run(t)
	}
}

func TestAcceptsThinking(t *testing.T) {
	t.Parallel()
	with := func(blocks string) []string { return []string{ask, answer(blocks)} }
	const text = `, {"type": "text", "text": "a"}`
	reasoning := func(encrypted, id string) string {
		return `{"type": "thinking", "thinking": "t", "content": [` + encrypted + `, ` + id + `]}`
	}
	for _, v := range []verdict{
		{"signed", with(signed + text), nil},
		{"signed, between texts", with(signed + text + ", " + signed + text), nil},
		{"no signature", with(`{"type": "thinking", "thinking": "t"}` + text), hasOnly("unsigned_thinking@1", anthropic...)},
		{"an empty signature", with(`{"type": "thinking", "thinking": "t", "signature": ""}` + text), hasOnly("unsigned_thinking@1", anthropic...)},
		{"a signature that is a number", with(`{"type": "thinking", "thinking": "t", "signature": 5}` + text), hasOnly("unsigned_thinking@1", sides...)},
		{"no text", with(`{"type": "thinking", "thinking": null, "signature": "s"}` + text), hasOnly("broken_thinking@1", anthropic...)},
		{"redacted", with(`{"type": "redacted_thinking", "data": "d"}` + text), nil},
		{"redacted without data", with(`{"type": "redacted_thinking"}` + text), hasOnly("broken_thinking@1", anthropic...)},
		{"not first", with(`{"type": "text", "text": "a"}, ` + signed + text), hasOnly("thinking_not_first@1", anthropic...)},
		{"behind the call of a tool of the provider", with(`{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, ` + signed + text), hasOnly("thinking_not_first@1", anthropic...)},
		{"last", with(signed + text + ", " + signed), hasOnly("thinking_last@1", anthropic...)},
		{"nothing else", with(signed), map[accept.Provider]string{accept.Anthropic: "thinking_last@1", accept.OpenAIChat: "empty_content@1"}},
		{
			"the member of memory, unsigned",
			[]string{ask, `{"role": "assistant", "content": "a", "thinking_block": {"type": "thinking", "thinking": "t"}}`},
			hasOnly("unsigned_thinking@1", anthropic...),
		},
		{
			"the member of memory alone",
			[]string{ask, `{"role": "assistant", "content": "", "thinking_block": ` + signed + `}`},
			map[accept.Provider]string{accept.Anthropic: "thinking_last@1", accept.Gemini: "empty_content@1"},
		},
		{"reasoning and its text", with(reasoning(`"enc"`, `"rs_1"`) + text), hasOnly("foreign_thinking@1", anthropic...)},
		{
			"reasoning and its call",
			[]string{ask, answer(reasoning(`"enc"`, `"rs_1"`) + `, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}`), result("c1")},
			hasOnly("foreign_thinking@1", anthropic...),
		},
		{
			"reasoning behind its text", with(`{"type": "text", "text": "a"}, ` + reasoning(`"enc"`, `"rs_1"`)),
			map[accept.Provider]string{accept.Anthropic: "foreign_thinking@1", accept.OpenAIResponses: "reasoning_without_follower@1"},
		},
		{
			"reasoning behind its text, twice, and again with a text",
			[]string{
				ask, answer(reasoning(`"enc"`, `"rs_1"`) + text + ", " + reasoning(`"enc"`, `"rs_2"`) + ", " + reasoning(`"enc"`, `"rs_3"`)),
				ask, answer(reasoning(`"enc"`, `"rs_3"`) + text),
			},
			map[accept.Provider]string{
				accept.Anthropic:       "foreign_thinking@1 foreign_thinking@1 foreign_thinking@1 foreign_thinking@3",
				accept.OpenAIResponses: "reasoning_without_follower@1",
			},
		},
		{
			"reasoning behind a call among the blocks",
			[]string{ask, answer(`{"type": "tool_use", "id": "c1", "name": "f", "input": {}}, ` + reasoning(`"enc"`, `"rs_1"`)), result("c1")},
			map[accept.Provider]string{accept.Anthropic: "foreign_thinking@1", accept.OpenAIResponses: "reasoning_without_follower@1"},
		},
		{
			"reasoning behind its text, and a listed call",
			[]string{ask, `{"role": "assistant", "content": [{"type": "text", "text": "a"}, ` + reasoning(`"enc"`, `"rs_1"`) + `], "tool_calls": [{"id": "c1", "tool": "f", "arguments": {}}]}`, result("c1")},
			hasOnly("foreign_thinking@1", anthropic...),
		},
		{
			"reasoning that is not there", with(reasoning(`null`, `"rs_1"`) + text),
			map[accept.Provider]string{accept.Anthropic: "foreign_thinking@1", accept.OpenAIResponses: "unsigned_thinking@1"},
		},
		{
			"reasoning twice", with(reasoning(`"enc"`, `"rs_1"`) + ", " + reasoning(`"enc"`, `"rs_1"`) + text),
			map[accept.Provider]string{accept.Anthropic: "foreign_thinking@1 foreign_thinking@1", accept.OpenAIResponses: "duplicate_reasoning@1"},
		},
	} {
		v.run(t)
	}
}
