package sessionstore

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// TestPlaces compares what is found by places, however the message was made,
// with what is found without.
func TestPlaces(t *testing.T) {
	t.Parallel()
	names := []string{"role", "content", "timestamp", "ts", "metadata", "tool_calls", "tool_call_id", "other", "cont", ""}
	for _, line := range []string{
		`{"role": "user", "content": "x", "timestamp": "t", "ts": 1, "metadata": {"ts": 2}, "tool_calls": [], "tool_call_id": "c", "other": null}`,
		" \t{\"content\":\"a\" , \"content\" : [1, {\"role\": 2}],\"role\":\"tool\"}  \r",
		`{"r\u006fle": "user", "c\u006fntent": "x", "t\u0073": {"a": "}"}, "": 7, "timestamp": "1", "times\u0074amp": 2}`,
		`{"role": 1, "role": "assistant", "tool_calls": {}, "tool_call_id": [[]], "metadata": -1.5e3}`,
		`{}`, `[]`, `[{"role": "user"}]`, `"role"`, `null`,
		`{"content": "` + strings.Repeat(`\"}`, 100) + `", "metadata": {"x": "` + strings.Repeat("}", 100) + `"}}`,
	} {
		var read []Message
		require.NoError(t, new(lineReader).parse(jsonl.Line{Bytes: []byte("xx" + line)[2:]}, func(m message) { read = append(read, Message{&m}) }))
		for _, m := range append(read, newMessage([]byte(line)), readMessage([]byte(line))) {
			value, _ := lookup(m.m.value(), "role")
			require.Equal(t, roleOf(value), m.m.places.role, line)
			for _, name := range names {
				want, found := lookup(m.m.value(), name)
				got, ok := m.Lookup(name)
				require.Equal(t, found, ok, "%s in %s", name, line)
				require.Equal(t, string(want), string(got), "%s in %s", name, line)
				require.True(t, strings.HasPrefix(string(m.from(name)), string(want)))
			}
		}
	}
}

// TestBlocksOfContent has content of which is known that it is of text alone.
func TestBlocksOfContent(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{
		`"tool_use"`: false, `{"type": "tool_use"}`: false, `[]`: false, `[{"type": "text", "text": "tool_use"}]`: false,
		`[{"type": "tool_use"}]`: true, `[{"type": "text"}, {"type": "image"}]`: true, `[{"t\u0079pe": "tool_use"}]`: true,
	} {
		var m message
		line := `{"x": [{"type": "a"}], "content": ` + content + `, "y": [{"type": "b"}]}`
		require.NoError(t, new(lineReader).parse(jsonl.Line{Bytes: []byte(line)}, func(read message) { m = read }))
		require.Equal(t, want, Message{&m}.blocks() != nil, content)
		made := newMessage([]byte(line))
		require.Equal(t, content[0] == '[', made.blocks() != nil, "nothing is known of what was made")
	}
	require.Nil(t, Message{}.blocks())
}

// A message that is loaded takes 64 bytes beside its line: itself, and its
// place in two lists.
func TestMessageSize(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, reflect.TypeFor[message]().Size()+2*reflect.TypeFor[Message]().Size(), uintptr(64))
}
