package accept_test

import (
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// TestReports has the failures that people reported in public, one row each.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, v := range []verdict{
		{"amplifier#217: a crash in a tool", []string{ask, calling("c1")}, all("call_without_result@1")},
		{
			"amplifier#217: the call is stripped, its result stays",
			[]string{ask, result("c1"), ask},
			and("result_without_call@1", "roles_in_a_row@2/0"),
		},
		{"amplifier#217: a result and the prompt behind it", []string{ask, calling("c1"), result("c1"), ask}, hasOnly("roles_in_a_row@3/2", sides...)},
		{"amplifier#217: two user messages in a row", []string{ask, ask}, hasOnly("roles_in_a_row@1/0", sides...)},
		{
			"amplifier#330: a null signature after changing provider",
			[]string{ask, answer(`{"type": "thinking", "thinking": "t", "signature": null}, {"type": "text", "text": "a"}`)},
			hasOnly("unsigned_thinking@1", anthropic...),
		},
		{
			"amplifier-app-cli#233: OpenAI's reasoning before Anthropic",
			[]string{ask, answer(`{"type": "thinking", "thinking": "t", "signature": "s", "content": ["enc", "rs_1"]}, {"type": "text", "text": "a"}`)},
			hasOnly("foreign_thinking@1", sides...),
		},
		{"amplifier-app-cli#156: a call left open before the next turn", []string{ask, calling("c1"), note, say}, and("call_without_result@1", "roles_in_a_row@2/1")},
		{
			"amplifier-foundation#115, #133: only one of two calls has its result",
			[]string{ask, calling("c1", "c2"), result("c1"), say},
			all("call_without_result@1"),
		},
		{"opencode#10616: an aborted write", []string{ask, using("c1"), ask, say}, and("call_without_result@1", "roles_in_a_row@2/1")},
		{"openclaw#4476, #4844: a repair invented a result for an aborted call", []string{ask, say, result("c1")}, all("result_without_call@2")},
		{
			"openclaw#4815: a repair missed one of three",
			[]string{ask, calling("c1", "c2", "c3"), result("c1"), result("c3"), say},
			all("call_without_result@1"),
		},
		{"openai-agents-python#4322: a limit cut between call and result", []string{result("c1"), say}, and("result_without_call@0", "first_not_user@1")},
		{"Codewhale#6185, crush#2622: repaired in memory only", []string{ask, calling("c1"), say}, all("call_without_result@1")},
		{"docker-agent#3001: compaction cut between call and result", []string{note, answering("c1", ""), say}, all("result_without_call@1")},
		{"strands harness-sdk#1123: the stored session stays broken", []string{ask, calling("c1", "c2"), say}, all("call_without_result@1 call_without_result@1")},
		{
			"openai-agents-js#929, #326, openai-agents-python#1709: reasoning without its follower",
			[]string{ask, answer(`{"type": "thinking", "thinking": "t", "content": ["enc", "rs_1"]}`)},
			map[accept.Provider]string{
				accept.Anthropic: "foreign_thinking@1 empty_content@1", accept.OpenAIChat: "empty_content@1",
				accept.OpenAIResponses: "reasoning_without_follower@1", accept.Gemini: "empty_content@1",
			},
		},
		{
			"copilot-cli#3183, pi#4189, opencode#21326: killed in a call, the conversation went on",
			[]string{ask, calling("c1"), result("c1"), using("c2"), ask, say},
			and("call_without_result@3", "roles_in_a_row@4/3"),
		},
		{
			"OpenHarness#240: no result of four calls",
			[]string{ask, calling("c1", "c2", "c3", "c4")},
			all("call_without_result@1 call_without_result@1 call_without_result@1 call_without_result@1"),
		},
		{"openclaw#8536: synthetic results and the real ones", []string{ask, calling("c1"), result("c1"), say, result("c1")}, all("duplicate_result@4")},
		{
			"openclaw#109443: ids that begin anew in every turn",
			[]string{ask, calling("exec_0"), result("exec_0"), say, ask, calling("exec_0"), result("exec_0"), say},
			hasOnly("duplicate_call_id@5/1", accept.Anthropic, accept.OpenAIResponses),
		},
		{
			"cua#524: one id for two calls",
			[]string{ask, using("c1"), answering("c1", ""), using("c1"), answering("c1", "")},
			hasOnly("duplicate_call_id@3/1", accept.Anthropic, accept.OpenAIResponses),
		},
		{"nanobot#4356: an id of another provider", []string{ask, calling("call_1|fc_1"), result("call_1|fc_1")}, hasOnly("bad_call_id@1", anthropic...)},
		{"9router#3167: an id of 86 characters", []string{ask, calling(strings.Repeat("c", 86)), result(strings.Repeat("c", 86))}, hasOnly("bad_call_id@1", openAI...)},
		{
			"pi#8386: a call that was cut has no arguments",
			[]string{ask, callOf(`"c1"`, `"bash"`, `null`), result("c1"), say},
			nil,
		},
		{"goose#1624: a blank text", []string{ask, answer(`{"type": "text", "text": ""}, {"type": "text", "text": "a"}`)}, hasOnly("blank_text@1", sides...)},
		{"gemini-cli#3814: fewer results than calls", []string{ask, calling("c1", "c2"), result("c2"), say}, all("call_without_result@1")},
		{"gemini-cli#11814: the history begins with a call", []string{calling("c1"), result("c1"), say}, hasOnly("first_not_user@0", sides...)},
		{
			"vercel/ai#7883: a reasoning item twice",
			[]string{
				ask, answer(`{"type": "thinking", "content": ["e", "rs_1"]}, {"type": "text", "text": "a"}`), ask,
				answer(`{"type": "thinking", "content": ["e", "rs_1"]}, {"type": "text", "text": "b"}`),
			},
			map[accept.Provider]string{accept.Anthropic: "broken_thinking@1 broken_thinking@3", accept.OpenAIResponses: "duplicate_reasoning@3"},
		},
		{
			"anthropic-sdk-python#961, #1339: a turn is paused in a search, and its answer goes on",
			[]string{
				ask, answer(signed + `, {"type": "text", "text": "a"}, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}`),
				answer(`{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, ` + signed + `, {"type": "text", "text": "b"}`), ask,
			},
			map[accept.Provider]string{accept.Gemini: "roles_in_a_row@2/1"},
		},
		{
			"anthropic-sdk-typescript#1090: a tool of the provider runs after those of the program",
			[]string{
				ask, answer(`{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {}}, {"type": "tool_use", "id": "c1", "name": "g", "input": {}}`),
				answering("c1", ""), answer(`{"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}, ` + signed + `, {"type": "text", "text": "b"}`), say,
			},
			hasOnly("roles_in_a_row@4/3", sides...),
		},
	} {
		v.run(t)
	}
}
