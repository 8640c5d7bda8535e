package accept_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

const noResult = `"content": "{\"error\": \"unknown_error\", \"message\": \"Tool execution was interrupted and no result was captured. Whether the tool ran is not known: its outcome is unknown.\"}"}`

func TestMend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		provider accept.Provider
		rows     []string
		want     []string
	}{
		{
			"a call gets a result, and the turn an answer", accept.Anthropic,
			[]string{ask, calling("c1"), ask},
			[]string{ask, calling("c1"), `{"role": "tool", "tool_call_id": "c1", "name": "f", ` + noResult, `{"role": "assistant", "content": "(There was no answer.)"}`, ask},
		},
		{
			"a late result is moved, not replaced", accept.OpenAIChat,
			[]string{ask, calling("c1", "c2"), result("c1"), reminder, result("c2"), say},
			[]string{ask, calling("c1", "c2"), result("c2"), result("c1"), reminder, say},
		},
		{
			"an early result is moved", accept.OpenAIResponses,
			[]string{result("c1"), ask, calling("c1")},
			[]string{ask, calling("c1"), result("c1")},
		},
		{
			"a block that shares its message moves alone", accept.OpenAIChat,
			[]string{ask, using("c1"), reminder, answering("c1", moreText)},
			[]string{
				ask, using("c1"), `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]}`, reminder,
				`{"role": "user", "content": [{"type": "text", "text": "and"}]}`,
			},
		},
		{
			"results without a call go", accept.Gemini,
			[]string{ask, answering("c1", moreText), say, result("c2")},
			[]string{ask, `{"role": "assistant", "content": "(There was no answer.)"}`, `{"role": "user", "content": [{"type": "text", "text": "and"}]}`, say},
		},
		{
			"nothing is left", accept.Anthropic,
			[]string{result("c1")},
			[]string{},
		},
		{
			"an id changes with its result", accept.Anthropic,
			[]string{ask, callOf(`"a|b"`, `"f"`, `"{}"`), result("a|b")},
			[]string{ask, callOf(`"mended_1"`, `"f"`, `"{}"`), result("mended_1")},
		},
		{
			"an id that was given is given to no other", accept.Anthropic,
			[]string{ask, calling("mended_1"), result("mended_1"), calling("mended_1"), result("mended_1")},
			[]string{ask, calling("mended_1"), result("mended_1"), calling("mended_2"), result("mended_2")},
		},
		{
			"a name and arguments", accept.Gemini,
			[]string{ask, callOf(`"c1"`, `"7 up"`, `"[1]"`), result("c1")},
			[]string{ask, callOf(`"c1"`, `"_7_up"`, `"{\"arguments\": \"[1]\"}"`), result("c1")},
		},
		{
			"a text in other forms stays", accept.Anthropic,
			[]string{`{"role":"user","content":["bare",{"text":"untyped"},{"type":"text","text":7}]}`},
			[]string{`{"role":"user","content":[{"type": "text", "text": "bare"}, {"text":"untyped","type":"text"}, {"type": "text", "text": "7"}]}`},
		},
		{
			"a block that no provider takes goes, but for its text", accept.OpenAIResponses,
			[]string{`{"role": "user", "content": [{"type": "hologram", "data": "d"}, {"type": "note", "text": "t", "n": 1}]}`},
			[]string{`{"role": "user", "content": [{"type": "text", "text": "t", "n": 1}]}`},
		},
		{
			"an unknown role", accept.OpenAIChat,
			[]string{`{"role": "User", "content": "q"}`},
			[]string{`{"role": "user", "content": "q"}`},
		},
		{
			"messages that are empty say so", accept.Anthropic,
			[]string{`{"role": "user", "content": []}`, `{"role": "assistant", "content": "", "n": 1.50}`},
			[]string{
				`{"role": "user", "content": [{"type": "text", "text": "<system-reminder>This message was empty.</system-reminder>"}]}`,
				`{"role": "assistant", "content": "(This answer was empty.)", "n": 1.50}`,
			},
		},
		{
			"the user begins", accept.Gemini,
			[]string{say},
			[]string{`{"role": "user", "content": "<system-reminder>A message of the user is missing here.</system-reminder>"}`, say},
		},
		{
			"reasoning alone goes", accept.OpenAIResponses,
			[]string{ask, answer(`{"type": "thinking", "content": ["e", "rs_1"]}`), ask},
			[]string{ask, `{"role": "assistant", "content": []}`, ask},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, lines(mend(t, test.provider, parse(t, test.rows...)).Messages))
		})
	}
}

func TestMendMovesTheSameMessage(t *testing.T) {
	t.Parallel()
	msgs := parse(t, ask, calling("c1"), reminder, result("c1"))
	m := mend(t, accept.Gemini, msgs)
	require.Equal(t, []sessionstore.Message{msgs[0], msgs[1], msgs[3], msgs[2]}, m.Messages)
	require.Equal(t, []accept.Amendment{
		{Kind: accept.Inserted, Reasons: []accept.Reason{accept.ResultLate}, Row: 2, At: 2, New: msgs[3]},
		{Kind: accept.Dropped, Reasons: []accept.Reason{accept.ResultLate}, Row: 3, At: 4, Old: msgs[3]},
	}, m.Amendments)
}

func TestMendRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 996)
	for name, msgs := range map[string][]sessionstore.Message{
		"the zero Message": {{}},
		"too deep":         parse(t, ask, callOf(`"c1"`, `"f"`, deep+strings.Repeat("]", 996)), result("c1")),
	} {
		_, err := accept.Fix(accept.Anthropic, msgs)
		require.ErrorContains(t, err, "mend messages: ", name)
	}
}
