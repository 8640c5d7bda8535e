package said

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// stored returns the row of an answer, in pieces of JSON.
func stored(t *testing.T, f *Format, pieces ...string) sessionstore.Message {
	t.Helper()
	answer := make([]json.RawMessage, len(pieces))
	for i, piece := range pieces {
		answer[i] = json.RawMessage(piece)
	}
	m, err := f.Row([][]json.RawMessage{answer}, "m", noon)
	require.NoError(t, err)
	return m
}

// asked returns the request of a conversation, as one JSON.
func asked(t *testing.T, f *Format, msgs ...sessionstore.Message) string {
	t.Helper()
	fixed, err := accept.Fix(f.rules, msgs)
	require.NoError(t, err)
	request, _, err := f.Request(fixed.Messages)
	require.NoError(t, err)
	raw, err := json.Marshal(request)
	require.NoError(t, err)
	for _, r := range strict.Judge(strict.Anthropic, strict.Limits{}, fmt.Appendf(nil, `{"model": "m", "max_tokens": 1, "messages": %s}`, raw)) {
		require.NotEqual(t, "anthropic.server_tool", r.Rule, "%s", raw)
	}
	return string(raw)
}

const said1 = `{"type": "message", "id": "msg_0", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "hi", "annotations": []}]}`

// An answer that is stored twice, and one of a server whose answers all have one id, are
// sent once with that id: OpenAI refuses it twice.
func TestOpenAIItemsAreSentOnce(t *testing.T) {
	t.Parallel()
	user := parse(t, `{"role": "user", "content": "a"}`)[0]
	answer := stored(t, OpenAI, said1)
	input := asked(t, OpenAI, user, answer, user, answer, user)
	refused := strict.Judge(strict.Responses, strict.Limits{}, []byte(`{"model": "m", "store": false, "input": `+input+`}`))
	require.Empty(t, refused)
	require.Equal(t, 1, strings.Count(input, `"msg_0"`))
	require.Equal(t, 2, strings.Count(input, `"hi"`))
}

// A call of a custom tool has a text for its arguments. It is stored as a call, so that its
// result has one, and goes back as the call of a function.
func TestOpenAICustomTool(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"ls", `{\"a\": 1}`} {
		msgs := []sessionstore.Message{
			parse(t, `{"role": "user", "content": "a"}`)[0],
			stored(t, OpenAI, `{"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sh", "input": "`+args+`"}`),
			parse(t, `{"role": "tool", "tool_call_id": "call_1", "name": "sh", "content": "out"}`)[0],
		}
		require.Empty(t, accept.Check(accept.OpenAIResponses, msgs))
		input := asked(t, OpenAI, msgs...)
		require.Empty(t, strict.Judge(strict.Responses, strict.Limits{}, []byte(`{"model": "m", "store": false, "input": `+input+`}`)), input)
		require.NotContains(t, input, "custom_tool_call")
		require.Contains(t, input, `"name":"sh"`)
	}
}

// A picture keeps its signature, without which Gemini refuses pictures that it made.
func TestGeminiSignedPicture(t *testing.T) {
	t.Parallel()
	part := `{"inlineData":{"data":"` + picture + `","mimeType":"image/png"},"thoughtSignature":"` + seal + `"}`
	user := parse(t, `{"role": "user", "content": "draw"}`)[0]
	m := stored(t, Gemini, `{"text": "look"}`, part)
	require.Equal(t, 1, strings.Count(string(m.AppendTo(nil)), picture))
	require.Contains(t, asked(t, Gemini, user, m, user), part)
}

// What was kept of an answer is not sent after a tool changed a block that only the
// provider knows, or a picture.
func TestChangedBlocksAreNotSentAsTheyWere(t *testing.T) {
	t.Parallel()
	user := parse(t, `{"role": "user", "content": "a"}`)[0]
	for _, c := range []struct {
		f      *Format
		pieces []string
		old    string
	}{
		{Anthropic, []string{
			`{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "old"}}`,
			`{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "u", "title": "old", "encrypted_content": "e"}]}`,
			`{"type": "text", "text": "t", "citations": []}`,
		}, `"old"`},
		{Gemini, []string{`{"text": "t"}`, `{"inlineData": {"mimeType": "image/png", "data": "` + picture + `"}}`, `{"executableCode": {"code": "c"}}`}, picture},
	} {
		m := stored(t, c.f, c.pieces...)
		require.Contains(t, asked(t, c.f, user, m, user), c.old)
		line := string(m.AppendTo(nil))
		content, kept, found := strings.Cut(line, `"metadata"`)
		require.True(t, found)
		require.Contains(t, kept, c.old, "it is kept")
		content = strings.ReplaceAll(content, c.old, map[bool]string{true: `"new"`, false: pdf}[c.f == Anthropic])
		require.NotContains(t, asked(t, c.f, user, parse(t, content+`"metadata"`+kept)[0], user), c.old)
	}
}

// Anthropic refuses a call of a tool that it runs without a result, and a result without a
// call: an answer that stopped between them goes on in the next row, or says neither.
func TestAnthropicStoppedInItsTools(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"", `{"type": "newer"}`} { // with it the answer is kept as it was
		user := parse(t, `{"role": "user", "content": "a"}`)[0]
		begin := []string{`{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}`}
		if more != "" {
			begin = append(begin, more)
		}
		call := stored(t, Anthropic, begin...)
		result := stored(t, Anthropic, `{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}`, `{"type": "text", "text": "t"}`)
		request, _, err := Anthropic.Request([]sessionstore.Message{user, call, result, user})
		require.NoError(t, err)
		said := fmt.Sprintf("%s", request)
		require.Equal(t, 1, strings.Count(said, `"assistant"`))
		require.Equal(t, 2, strings.Count(said, "srvtoolu_1"))
		require.Contains(t, asked(t, Anthropic, user, call), "srvtoolu_1", "the provider goes on with it")
		require.Equal(t, 2, strings.Count(asked(t, Anthropic, user, call, result, user), "srvtoolu_1"), "accept.Fix changes nothing")
		for _, half := range []sessionstore.Message{call, result} {
			said = asked(t, Anthropic, user, half, user, half, user)
			require.NotContains(t, said, "srvtoolu_1")
			require.Equal(t, 2, strings.Count(said, `"assistant"`))
			require.NotContains(t, said, `"content":null`)
		}
		require.NotContains(t, asked(t, Anthropic, user, call, call, user), "srvtoolu_1", "one call, twice")
	}
	said := asked(t, Anthropic, parse(t, `{"role": "user", "content": "q"}`)[0], stored(t, Anthropic, `{"type": "thinking", "thinking": "x", "signature": "QUJD"}`, `{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}`), parse(t, `{"role": "user", "content": "q"}`)[0])
	require.Empty(t, strict.Judge(strict.Anthropic, strict.Limits{NoPrefill: true}, []byte(`{"model": "m", "max_tokens": 1, "messages": `+said+`}`)))
	_, report, err := Anthropic.Request(append(parse(t, `{"role": "user", "content": "q"}`), stored(t, Anthropic, `{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}`), parse(t, `{"role": "user", "content": "q"}`)[0]))
	require.NoError(t, err)
	require.Equal(t, "message 2: server_tool_use", report.LeftOut[0].String())
}

// A tool that Anthropic runs may call those of the program: its result comes in a later answer.
func TestAnthropicToolsCallTools(t *testing.T) {
	t.Parallel()
	user := parse(t, `{"role": "user", "content": "a"}`)[0]
	msgs := []sessionstore.Message{
		user,
		stored(t, Anthropic, `{"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {}}`, `{"type": "tool_use", "id": "c", "name": "f", "input": {}, "caller": {"type": "code_execution", "tool_id": "srvtoolu_1"}}`),
		parse(t, `{"role": "tool", "tool_call_id": "c", "content": "out"}`)[0],
	}
	require.Equal(t, 2, strings.Count(asked(t, Anthropic, msgs...), "srvtoolu_1"))
	msgs = append(msgs, stored(t, Anthropic, `{"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}`, `{"type": "text", "text": "t"}`), user)
	require.Equal(t, 3, strings.Count(asked(t, Anthropic, msgs...), "srvtoolu_1"))
	require.NotContains(t, asked(t, Anthropic, msgs...), "left out")
	msgs = append(msgs[:3:3], user) // the turn has ended, as after a kill
	require.NotContains(t, asked(t, Anthropic, msgs...), `"id":"srvtoolu_1"`)
}
