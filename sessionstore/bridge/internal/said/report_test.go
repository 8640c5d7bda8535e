package said

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func parse(t *testing.T, lines ...string) (msgs []sessionstore.Message) {
	t.Helper()
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err, line)
		msgs = append(msgs, m)
	}
	return msgs
}

// What is mended and left out has the number of its message, also beside messages that were
// put in.
func TestReport(t *testing.T) {
	t.Parallel()
	msgs := parse(t,
		`{"role": "system", "content": "s"}`,
		`{"role": "user", "content": "one"}`,
		`{"role": "user", "content": "two"}`,
		`{"role": "developer", "content": "d"}`,
		`{"role": "assistant", "content": [{"type": "audio"}, {"type": "thinking", "thinking": "t"}], "tool_calls": [{"id": "a|b", "tool": "x.y", "arguments": {}}]}`,
		`{"role": "tool", "tool_call_id": "a|b", "content": [{"type": "video"}]}`,
		`{"role": "user", "content": [{"type": "text", "text": "three"}, {"type": "image", "source": {"type": "ref", "id": "sha256:0"}}]}`)
	left := func(f *Format) (all []string) {
		_, report, err := f.Request(msgs)
		require.NoError(t, err)
		require.Equal(t, []string{"s", "d"}, report.System)
		for _, l := range report.LeftOut {
			all = append(all, l.String())
		}
		return all
	}
	require.Equal(t, []string{
		"message 3: roles_in_a_row", "message 5: bad_tool_name", "message 5: unsigned_thinking", "message 5: bad_call_id", "message 5: audio",
		"message 6: bad_call_id", "message 6: video", "message 7: roles_in_a_row", "message 7: bad_image",
	}, left(Anthropic))
	require.Equal(t, []string{"message 5: bad_tool_name", "message 5: audio", "message 5: thinking", "message 6: video", "message 7: bad_image"}, left(OpenAI))
	require.Equal(t, []string{"message 3: roles_in_a_row", "message 5: audio", "message 5: thinking", "message 6: video", "message 7: roles_in_a_row", "message 7: bad_image"}, left(Gemini))

	_, report, err := Anthropic.Request(parse(t, `{"role": "user", "content": "q"}`, `{"role": "assistant", "content": "a", "thinking_text": "t"}`))
	require.NoError(t, err)
	require.Len(t, report.LeftOut, 1)
	require.Equal(t, "message 2: thinking", report.LeftOut[0].String())

	for name, lines := range map[string][]string{
		"it has no result":      {`{"role": "user", "content": "q"}`, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "f", "arguments": {}}]}`},
		"belongs to no call":    {`{"role": "user", "content": "q"}`, `{"role": "tool", "tool_call_id": "c", "content": "r"}`},
		"the role is unknown":   {`{"role": "critic", "content": "q"}`},
		"not JSON: NaN":         {`{"role": "user", "content": "q"}`, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "f", "arguments": {"x": NaN}}]}`, `{"role": "tool", "tool_call_id": "c", "content": "r"}`},
		"another call has that": {`{"role": "user", "content": "q"}`, `{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}], "tool_calls": [{"id": "c", "tool": "f", "arguments": {}}, {"id": "c", "tool": "f", "arguments": {}}]}`, `{"role": "tool", "tool_call_id": "c", "content": "r"}`},
	} {
		_, report, err := Anthropic.Request(parse(t, lines...))
		require.ErrorContains(t, err, name)
		require.Empty(t, report)
	}
}

// The JSON of an answer is sent as long as its row says the same.
func TestAnswerThatWasChanged(t *testing.T) {
	t.Parallel()
	answer := []json.RawMessage{[]byte(`{"type": "text", "text": "a", "citations": [1]}`), []byte(`{"type": "newer"}`)}
	m, err := Anthropic.Row([][]json.RawMessage{answer}, "m", noon)
	require.NoError(t, err)
	sent := func(m sessionstore.Message, f *Format) string {
		list, _, err := f.Request(append(parse(t, `{"role": "user", "content": "q"}`), m))
		require.NoError(t, err)
		return string(list[1])
	}
	require.JSONEq(t, `{"role": "assistant", "content": [{"type": "text", "text": "a", "citations": [1]}, {"type": "newer"}]}`, sent(m, Anthropic))
	require.JSONEq(t, `{"role": "model", "parts": [{"text": "a"}]}`, sent(m, Gemini))
	edited, err := m.With("content", "b")
	require.NoError(t, err)
	require.JSONEq(t, `{"role": "assistant", "content": [{"type": "text", "text": "b"}]}`, sent(edited, Anthropic))

	answer = []json.RawMessage{[]byte(`{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}, "thoughtSignature": "QUJD"}`), []byte(`{"executableCode": {"code": "1"}}`)}
	m, err = Gemini.Row([][]json.RawMessage{answer}, "m", noon)
	require.NoError(t, err)
	listed, _ := m.Lookup("tool_calls")
	require.JSONEq(t, `[{"id": "c", "tool": "f", "arguments": {"a": 1}, "signature": "QUJD"}]`, string(listed))
	result := parse(t, `{"role": "tool", "tool_call_id": "c", "content": "r"}`)[0]
	called := func(m sessionstore.Message) string {
		list, _, err := Gemini.Request(append(parse(t, `{"role": "user", "content": "q"}`), m, result))
		require.NoError(t, err)
		return string(list[1])
	}
	require.JSONEq(t, `{"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}, "thoughtSignature": "QUJD"}, {"executableCode": {"code": "1"}}]}`, called(m))
	edited, err = m.With("content", []object{{"type": "tool_call", "id": "c", "name": "f", "input": object{"a": 2}}})
	require.NoError(t, err)
	require.JSONEq(t, `{"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 2}}, "thoughtSignature": "QUJD"}]}`, called(edited))

	answer = []json.RawMessage{[]byte(`{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}`), []byte(`{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}`)}
	m, err = Anthropic.Row([][]json.RawMessage{answer}, "m", noon)
	require.NoError(t, err)
	require.NotContains(t, string(m.AppendTo(nil)), "wire_content")
	require.JSONEq(t, `{"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]}`, sent(m, Anthropic))
}

// Messages of one side are one where the provider wants the sides to alternate, and thinking
// of another provider stays with it.
func TestSides(t *testing.T) {
	t.Parallel()
	msgs := parse(t,
		`{"role": "user", "content": "<system-reminder>r</system-reminder>"}`, `{"role": "user", "content": "q"}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "QUJD"}], "metadata": {"provider": "gemini"}}`)
	for _, want := range []struct {
		f    *Format
		n    int
		last string
	}{
		{Anthropic, 2, `{"role": "assistant", "content": [{"type": "text", "text": "(This answer was empty.)"}]}`},
		{OpenAI, 3, `{"type": "message", "role": "assistant", "content": "(A part of this message was left out.)"}`},
		{Gemini, 2, `{"role": "model", "parts": [{"text": "t", "thought": true, "thoughtSignature": "QUJD"}]}`},
	} {
		list, _, err := want.f.Request(msgs)
		require.NoError(t, err)
		require.Len(t, list, want.n, want.f.Name)
		require.JSONEq(t, want.last, string(list[want.n-1]))
	}
}

// Half of a surrogate pair becomes U+FFFD, and characters at which some tools break lines
// are escaped: every tool can read the row.
func TestRowIsPortable(t *testing.T) {
	t.Parallel()
	m, err := OpenAI.Row([][]json.RawMessage{{[]byte("{\"type\": \"message\", \"content\": [{\"type\": \"output_text\", \"text\": \"a\u2028b\\ud83d\"}]}")}}, "m", noon)
	require.NoError(t, err)
	require.Equal(t, "a\u2028b\uFFFD", m.Content())
	require.NotContains(t, string(m.AppendTo(nil)), "\u2028")
	require.NotContains(t, string(m.AppendTo(nil)), `\ud83d`)
	require.Equal(t, "assistant", m.Role())
	at, ok := m.Timestamp()
	require.True(t, ok)
	require.True(t, at.Equal(noon))
	_, err = OpenAI.Row([][]json.RawMessage{{[]byte(`{"type": "message", "n": 1e999, "content": []}`)}}, "m", noon)
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
}
