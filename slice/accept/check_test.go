package accept_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// verdict is a conversation and what every provider says: reasons with the
// numbers of the messages, nothing where it is accepted.
type verdict struct {
	name  string
	lines []string
	want  map[accept.Provider]string
}

// all is for what every provider refuses for one reason.
func all(reason string) map[accept.Provider]string {
	return hasOnly(reason, providers...)
}

// TestHalfCharacters has half a surrogate pair at each place of what is sent.
func TestHalfCharacters(t *testing.T) {
	t.Parallel()
	const ask, done = `{"role": "user", "content": "q"}`, `{"role": "assistant", "content": "done"}`
	result := func(text string) string {
		return `{"role": "tool", "tool_call_id": "c1", "name": "f", "content": ` + text + `}`
	}
	listed := func(args string) string {
		return `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "f", "arguments": ` + args + `}]}`
	}
	objects := []accept.Provider{accept.Anthropic, accept.Gemini}
	for _, v := range []verdict{
		{"prompt", []string{`{"role": "user", "content": "\ud83d"}`}, all("bad_content@0")},
		{"upper case", []string{`{"role": "user", "content": "x \uDC00"}`}, all("bad_content@0")},
		{"answer", []string{ask, `{"role": "assistant", "content": "ok \udc00"}`}, all("bad_content@1")},
		{"block", []string{ask, `{"role": "assistant", "content": [{"type": "text", "text": "a\ud82db"}]}`}, all("bad_block@1")},
		{"call", []string{ask, listed(`{"a": ["ls \ud83d"]}`), result(`"r"`), done}, all("bad_arguments@1")},
		{"name of an argument", []string{ask, listed(`{"\ud83d": 1}`), result(`"r"`), done}, all("bad_arguments@1")},
		{"text of a call", []string{ask, listed(`"{\"a\": \"\ud83d\"}"`), result(`"r"`), done}, all("bad_arguments@1")},
		{"escape in the text of a call", []string{ask, listed(`"{\"a\": \"\\ud83d\"}"`), result(`"r"`), done}, hasOnly("bad_arguments@1", objects...)},
		{"result", []string{ask, listed(`{}`), result(`"cut \ud83d…"`), done}, all("bad_content@2")},
		{"block of a result", []string{ask, listed(`{}`), result(`[{"type": "text", "text": "\udc00"}]`), done}, all("bad_block@2")},

		{"whole pairs", []string{`{"role": "user", "content": "\ud83d\ude80"}`, listed(`{"a": "\ud83d\ude80"}`), result(`"\\ud83d"`), done}, nil},
	} {
		v.run(t)
	}
}

func hasOnly(reason string, by ...accept.Provider) map[accept.Provider]string {
	want := map[accept.Provider]string{}
	for _, p := range by {
		want[p] = reason
	}
	return want
}

// and is for what every provider refuses for one reason, and those that want
// sides to alternate for another one too.
func and(reason, more string) map[accept.Provider]string {
	want := all(reason)
	for _, p := range sides {
		want[p] += " " + more
	}
	return want
}

func (v verdict) run(t *testing.T) {
	t.Helper()
	t.Run(v.name, func(t *testing.T) {
		t.Parallel()
		msgs := parse(t, v.lines...)
		for _, p := range providers {
			require.Equal(t, v.want[p], reasons(accept.Check(p, msgs)), "%v", p)
		}
		checkMending(t, 0, msgs)
	})
}

func reasons(list []accept.Refusal) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = string(r.Reason) + "@" + string(rune('0'+r.Row))
		if r.Other >= 0 {
			texts[i] += "/" + string(rune('0'+r.Other))
		}
	}
	return strings.Join(texts, " ")
}

var (
	anthropic = []accept.Provider{accept.Anthropic}
	openAI    = []accept.Provider{accept.OpenAIChat, accept.OpenAIResponses}
	sides     = []accept.Provider{accept.Anthropic, accept.Gemini}
	adjacent  = []accept.Provider{accept.Anthropic, accept.OpenAIChat, accept.Gemini}
)

func TestAcceptsPairs(t *testing.T) {
	t.Parallel()
	for _, v := range []verdict{
		{"nothing", nil, nil},
		{"a question", []string{ask}, nil},
		{"an answer at the end is no prefill", []string{ask, say}, nil},
		{"results at the end", []string{ask, calling("c1"), result("c1")}, nil},
		{"parallel calls, results in another order", []string{ask, calling("c1", "c2"), result("c2"), result("c1"), say}, nil},
		{"results in blocks", []string{ask, using("c1"), answering("c1", ""), say}, nil},
		{"results and a text in one message", []string{ask, using("c1"), answering("c1", moreText), say}, nil},
		{"a call in both forms", []string{
			ask,
			`{"role": "assistant", "content": [{"type": "tool_call", "id": "c1", "name": "f", "input": {}}], "tool_calls": [{"id": "c1", "tool": "f", "arguments": {}}]}`,
			result("c1"),
		}, nil},
		{"system messages are not there", []string{`{"role": "system", "content": "x"}`, ask, calling("c1"), `{"role": "developer", "content": "x"}`, result("c1")}, nil},
		{"a reminder between call and result", []string{ask, calling("c1"), reminder, result("c1"), say}, all("result_out_of_place@3/1")},
		{
			"two messages with calls, then both results",
			[]string{ask, calling("c1"), calling("c2"), result("c1"), result("c2"), say},
			hasOnly("result_out_of_place@3/1", adjacent...),
		},
		{"a text between results", []string{ask, calling("c1", "c2"), result("c1"), reminder, result("c2"), say}, all("result_out_of_place@4/1")},
		{
			"a text before the result in its message",
			[]string{ask, using("c1"), `{"role": "user", "content": [{"type": "text", "text": "t"}, {"type": "tool_result", "tool_use_id": "c1", "content": "r"}]}`},
			hasOnly("result_not_first@2", adjacent...),
		},
		{"the result before the call", []string{ask, result("c1"), calling("c1"), say}, all("result_before_call@1/2")},
		{"a result without an id", []string{ask, calling("c1"), result("c1"), `{"role": "tool", "content": "r"}`, say}, all("result_without_call@3")},
		{
			"a call without an id",
			[]string{ask, `{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}]}`, say},
			all("call_without_id@1 call_without_result@1"),
		},
		{"an empty id", []string{ask, callOf(`""`, `"f"`, `"{}"`), result(""), say}, all("call_without_id@1")},
		{
			"one id twice in a message",
			[]string{ask, calling("c1", "c1"), result("c1"), result("c1"), say},
			hasOnly("duplicate_call_id@1", accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses),
		},
		{
			"one id in two messages",
			[]string{ask, calling("c1"), result("c1"), calling("c1"), result("c1"), say},
			hasOnly("duplicate_call_id@3/1", accept.Anthropic, accept.OpenAIResponses),
		},
		{"an id with other characters", []string{ask, calling("c|1"), result("c|1"), say}, hasOnly("bad_call_id@1", anthropic...)},
		{"a long id", []string{ask, calling(strings.Repeat("c", 65)), result(strings.Repeat("c", 65)), say}, hasOnly("bad_call_id@1", openAI...)},
		{"a lone surrogate as id", []string{ask, callOf(`"\ud800"`, `"f"`, `"{}"`), `{"role": "tool", "tool_call_id": "\ud800"}`}, all("bad_call_id@1")},
	} {
		v.run(t)
	}
}

func TestAcceptsCalls(t *testing.T) {
	t.Parallel()
	call := func(name, arguments string) []string {
		return []string{ask, callOf(`"c1"`, name, arguments), result("c1"), say}
	}
	for _, v := range []verdict{
		{"no name", call(`""`, `"{}"`), all("bad_tool_name@1")},
		{"a name with a space", call(`"read file"`, `"{}"`), all("bad_tool_name@1")},
		{"a name with a dot", call(`"files.read"`, `"{}"`), hasOnly("bad_tool_name@1", accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses)},
		{"a name that begins with a digit", call(`"7zip"`, `"{}"`), hasOnly("bad_tool_name@1", accept.Gemini)},
		{"a name of 65 characters", call(`"`+strings.Repeat("n", 65)+`"`, `"{}"`), hasOnly("bad_tool_name@1", accept.OpenAIChat, accept.Gemini)},
		{"a name of 129 characters", call(`"`+strings.Repeat("n", 129)+`"`, `"{}"`), all("bad_tool_name@1")},
		{"no arguments", call(`"f"`, `null`), nil},
		{"empty arguments", call(`"f"`, `""`), nil},
		{"arguments as object", call(`"f"`, `{"a": 1}`), nil},
		{"arguments as list", call(`"f"`, `"[1]"`), hasOnly("bad_arguments@1", sides...)},
		{"arguments that were cut", call(`"f"`, `"{\"a\": "`), hasOnly("bad_arguments@1", sides...)},
		{"arguments that are a number", call(`"f"`, `5`), hasOnly("bad_arguments@1", sides...)},
		{"a call that is none", []string{ask, `{"role": "assistant", "content": "x", "tool_calls": [null]}`}, all("bad_call@1")},
		{"calls that are none", []string{ask, `{"role": "assistant", "content": "x", "tool_calls": "y"}`}, all("bad_call@1")},
	} {
		v.run(t)
	}
}

func TestAcceptsOrder(t *testing.T) {
	t.Parallel()
	for _, v := range []verdict{
		{"an answer first", []string{say, ask, say}, hasOnly("first_not_user@0", sides...)},
		{"a reminder first", []string{reminder, say}, nil},
		{"two answers", []string{ask, say, say}, hasOnly("roles_in_a_row@2/1", sides...)},
		{"a reminder between answers", []string{ask, say, reminder, say}, nil},
		{"a reminder and a question", []string{reminder, ask, say}, nil},
		{"a reminder behind a result", []string{ask, calling("c1"), result("c1"), reminder, say}, nil},
		{"a reminder hides no question", []string{ask, reminder, ask, say}, hasOnly("roles_in_a_row@2/1", sides...)},
		{"an unknown role", []string{`{"role": "User", "content": "q"}`}, all("unknown_role@0")},
		{"no role", []string{`{"content": "q"}`}, all("unknown_role@0")},
	} {
		v.run(t)
	}
}

func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	for _, p := range []accept.Provider{-1, 4} {
		require.Equal(t, []accept.Refusal{{Reason: accept.UnknownProvider, Row: -1, Other: -1}}, accept.Check(p, nil))
		require.Equal(t, "the provider is unknown; name another", accept.Check(p, nil)[0].String())
		require.Equal(t, "unknown provider", p.String())
		_, err := accept.Fix(p, nil)
		require.EqualError(t, err, "mend messages: unknown provider")
	}
}

func TestRefusalString(t *testing.T) {
	t.Parallel()
	msgs := parse(t, ask, calling("c1"), reminder, result("c1"))
	list := accept.Check(accept.OpenAIChat, msgs)
	require.Len(t, list, 1)
	require.Equal(t, `message 4 (see message 2): call "c1": the result does not follow its call at once; move it there`, list[0].String())
}
