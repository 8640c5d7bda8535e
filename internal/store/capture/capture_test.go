package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRead reads rows of every kind: what counts, and what is wrong where.
func TestRead(t *testing.T) {
	t.Parallel()
	rows := []string{
		"\ufeff" + `{"event": "first", "session_id": "s", "data": {"message_id": "m"}}` + "\r",
		"", " \t",
		`{"event": "nan", "session_id": "s", "x": NaN}`,
		`["event"]`,
		`{"event": "", "session_id": "s"}`,
		`{"event": "a", "session_id": "s", "data": null}`,
		`{"event": "a", "session_id": 5}`,
		`{"event": "a", "session_id": "s", "data": {"session_id": "other"}}`,
		`{"event": "a", "session_id": "other"}`,
		`{"event": "nobody's", "session_id": "", "data": {"session_id": null}}`,
		`{"event": "inner", "data": {"session_id": "s"}}`,
		`{"event": "torn", "session_id": "s"`,
	}
	var names []string
	seen := 0
	found, err := Read(t.Context(), strings.NewReader(strings.Join(rows, "\n")), "s",
		func([]byte) { seen++ }, func(e Event) { names = append(names, e.Name) })
	require.NoError(t, err)
	require.Equal(t, len(rows), seen)
	require.Equal(t, []string{"first", "nobody's", "inner"}, names)
	require.Equal(t, []Diagnostic{
		{Invalid, 4}, {Invalid, 5}, {Invalid, 6}, {InvalidData, 7}, {InvalidID, 8}, {Conflicting, 9}, {Unscoped, 11}, {Incomplete, 13},
	}, found)
}

// TestRef takes from an event what ties it to a message.
func TestRef(t *testing.T) {
	t.Parallel()
	ref := func(name, data string) Ref { return Event{Name: name, Data: []byte(data)}.Ref() }
	require.Equal(t, Ref{}, Event{Name: PromptSubmit}.Ref())
	require.Equal(t, Ref{CallID: "c", MessageID: "m"}, ref("x", `{"tool_call_id": "c", "call_id": "d", "message_id": "m"}`))
	require.Equal(t, Ref{CallID: "d"}, ref("x", `{"tool_call_id": "", "call_id": "d", "message_id": 5}`))
	require.Equal(t, Ref{}, ref("x", `{"tool_call_id": 5, "call_id": "d"}`), "a number stands before the text")
	require.Equal(t, ref(PromptSubmit, `{"prompt": "é"}`), ref(PromptSubmit, `{"prompt": "\u00e9"}`))
	require.NotEqual(t, ref(PromptSubmit, `{"prompt": "\ud800"}`), ref(PromptSubmit, `{"prompt": "\ud801"}`))
	require.False(t, ref("x", `{"prompt": "p"}`).Submits)
	for _, data := range []string{`{"purpose": "Session-NAMING"}`, `{"origin_module": "subtitles"}`, `{"purpose": ["t\u0069tle"]}`} {
		require.True(t, ref("x", data).Auxiliary, data)
	}
	for _, data := range []string{`{"purpose": "chat"}`, `{"purpose": null}`, `{"purpose": "TİTLE"}`} {
		require.False(t, ref("x", data).Auxiliary, data)
	}
}
