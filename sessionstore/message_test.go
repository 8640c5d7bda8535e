package sessionstore_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestParseMessageKeepsBytes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, role string }{
		{"compact", `{"role":"user","content":"a<b & c>d"}`, "user"},
		{"space around", " \u00a0\t{\"role\" : \"tool\" }\u2028", "tool"},
		{"numbers", `{"role":"assistant","n":[1.0,1e2,-0,12345678901234567890123,NaN,1e400]}`, "assistant"},
		{"lone surrogate", `{"role":"user","content":"\ud83d"}`, "user"},
		{"escaped role", `{"r\u006fle":"us\u0065r"}`, "user"},
		{"last role counts", `{"role":"user","role":"tool"}`, "tool"},
		{"case matters", `{"role":"User"}`, "User"},
		{"system", `{"role":"system"}`, "system"},
		{"no role", `{"content":"x"}`, ""},
		{"role is a list", `{"role":["user"]}`, ""},
		{"empty", `{}`, ""},
		{"big", `{"role":"user","content":"` + strings.Repeat("x", 1<<20) + `"}`, "user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := sessionstore.ParseMessage([]byte(tt.line + "\n"))
			require.NoError(t, err)
			require.Equal(t, tt.line, string(m.AppendTo(nil)))
			require.Equal(t, "x"+tt.line, string(m.AppendTo([]byte("x"))))
			require.Equal(t, tt.role, m.Role())
		})
	}
}

func TestNewMessage(t *testing.T) {
	t.Parallel()
	type call struct {
		ID string `json:"id"`
	}
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"struct", struct {
			Role    string `json:"role"`
			Content string `json:"content"`
			Calls   []call `json:"tool_calls"`
		}{"assistant", "a<b>&\u2028", []call{{"c1"}}}, "{\"role\": \"assistant\", \"content\": \"a<b>&\u2028\", \"tool_calls\": [{\"id\": \"c1\"}]}"},
		{"map", map[string]any{"role": "user", "content": nil, "n": 1.5}, `{"n": 1.5, "role": "user"}`},
		{"raw keeps order", json.RawMessage(`{"z":1,"role":"user","a":[1,null,2]}`), `{"z": 1, "role": "user", "a": [1, 2]}`},
		{"content_blocks vanish", json.RawMessage(`{"role":"user","content_blocks":[1]}`), `{"role": "user"}`},
		{"thinking_block", json.RawMessage(`{"thinking_block":{"text":"hm"},"role":"assistant"}`), `{"thinking_text": "hm", "role": "assistant"}`},
		{"floats", json.RawMessage(`{"role":"user","x":[1e3,1E22,0.00001,-0.0,1.10]}`), `{"role": "user", "x": [1000.0, 1e+22, 1e-05, -0.0, 1.1]}`},
		{"lone surrogate", json.RawMessage(`{"role":"user","content":"\ud83d"}`), "{\"role\": \"user\", \"content\": \"\uFFFD\"}"},
		{"4300 digits", json.RawMessage(`{"role":"user","n":` + strings.Repeat("7", 4300) + `}`), `{"role": "user", "n": ` + strings.Repeat("7", 4300) + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := sessionstore.NewMessage(tt.value)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(m.AppendTo(nil)))
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_999_999, time.FixedZone("", 3600))
	m, err := sessionstore.Text("user", "Grüezi \"du\"\n\x00", at)
	require.NoError(t, err)
	require.Equal(t, `{"role": "user", "content": "Grüezi \"du\"\n\u0000", "metadata": {"timestamp": "2026-01-02T02:04:05.678+00:00"}}`,
		string(m.AppendTo(nil)))
	require.Equal(t, "user", m.Role())
	require.Equal(t, "Grüezi \"du\"\n\x00", m.Content())
	back, ok := m.Timestamp()
	require.True(t, ok)
	require.True(t, at.Truncate(time.Millisecond).Equal(back))

	_, err = sessionstore.Text("", "x", at)
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	m, err = sessionstore.Text("user", "bad \xff byte", at)
	require.NoError(t, err)
	require.Equal(t, "bad \uFFFD byte", m.Content())
}

func TestWith(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, member string
		value              any
		want               string
	}{
		{"replace", `{"role":"user",  "n" : 1e2, "z": NaN}`, "n", 2, `{"role":"user",  "n" : 2, "z": NaN}`},
		{"add", `{"role": "user"}`, "n", []int{1, 2}, `{"role": "user", "n": [1, 2]}`},
		{"add to a compact row", `{"role":"user"}`, "n", []int{1, 2}, `{"role":"user","n":[1, 2]}`},
		{"remove", `{"role":"user", "n": 1}`, "n", nil, `{"role":"user"}`},
		{"remove what is not there", `{"role":"user"}`, "n", nil, `{"role":"user"}`},
		{"change role", `{"role":"user"}`, "role", "tool", `{"role":"tool"}`},
		{"name with a quote", `{"role": "user"}`, `a"b`, true, `{"role": "user", "a\"b": true}`},
		{"text as Python writes it", `{"role": "user"}`, "x", "a<é\n", `{"role": "user", "x": "a<é\n"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, tt.line)[0]
			got, err := m.With(tt.member, tt.value)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got.AppendTo(nil)))
			require.Equal(t, tt.line, string(m.AppendTo(nil)), "the original is what it was")
		})
	}
	_, err := sessionstore.Message{}.With("n", 1)
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	got, err := parse(t, `{"role":"user"}`)[0].With("role", "system")
	require.NoError(t, err)
	require.Equal(t, "system", got.Role())
}

// TestMessagesCannotBeChanged overwrites all that a message takes and gives.
func TestMessagesCannotBeChanged(t *testing.T) {
	t.Parallel()
	const line = `{"role": "user", "content": "abc", "tool_calls": [{"id": "1", "arguments": {"a": 1}}]}`
	clobber := func(b []byte) {
		b = b[:cap(b)]
		for i := range b {
			b[i] = '!'
		}
	}
	given := []byte(line)
	m, err := sessionstore.ParseMessage(given)
	require.NoError(t, err)
	clobber(given)
	raw := json.RawMessage(line)
	made, err := sessionstore.NewMessage(raw)
	require.NoError(t, err)
	clobber(raw)
	var read sessionstore.Message
	input := []byte(line)
	require.NoError(t, read.UnmarshalJSON(input))
	clobber(input)

	for _, m := range []sessionstore.Message{m, made, read} {
		clobber(m.AppendTo(nil))
		for _, name := range []string{"role", "content", "tool_calls"} {
			value, ok := m.Lookup(name)
			require.True(t, ok)
			clobber(value)
		}
		clobber(m.ToolCalls()[0].Arguments)
		b, err := m.MarshalJSON()
		require.NoError(t, err)
		clobber(b)
		require.Equal(t, line, string(m.AppendTo(nil)))
	}
}

func TestMessageJSON(t *testing.T) {
	t.Parallel()
	const text = `[{"role":"user","n":1.0,"big":12345678901234567890,"html":"<&>"},{"role":"tool"}]`
	var rows []sessionstore.Message
	require.NoError(t, json.Unmarshal([]byte(text), &rows))
	require.Equal(t, []string{`{"role":"user","n":1.0,"big":12345678901234567890,"html":"<&>"}`, `{"role":"tool"}`}, lines(rows))
	out, err := json.Marshal(rows)
	require.NoError(t, err)
	require.JSONEq(t, text, string(out))

	var m sessionstore.Message
	require.NoError(t, json.Unmarshal([]byte("{\n  \"role\": \"user\",\r\n  \"content\": \"a\\nb\"\n}"), &m))
	require.Equal(t, `{"role": "user", "content": "a\nb"}`, string(m.AppendTo(nil)))
	require.Error(t, json.Unmarshal([]byte(`[1]`), &m))
	require.Equal(t, "a\nb", m.Content(), "a failure changes nothing")

	_, err = json.Marshal(parse(t, `{"role":"user","n":NaN}`))
	require.ErrorContains(t, err, "NaN")
	out, err = json.Marshal(sessionstore.Message{})
	require.NoError(t, err)
	require.Equal(t, "null", string(out))
}
