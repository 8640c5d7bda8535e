// Package talk has what the tests of the bridges to the APIs of models share.
package talk

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
)

// Picture is a PNG of one pixel, as base64.
const Picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// image is a block with the picture.
const image = `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + Picture + `"}}`

// Rows returns the messages that lines of a transcript are.
func Rows(t *testing.T, lines ...string) (list []sessionstore.Message) {
	t.Helper()
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		list = append(list, m)
	}
	return list
}

// Stored returns a message after it was on the disk.
func Stored(t *testing.T, m sessionstore.Message) sessionstore.Message {
	t.Helper()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.Append(t.Context(), "a", m))
	session, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	return session.Messages[0]
}

// Usage returns what a log with the event of one response sums up.
func Usage(t *testing.T, e eventslog.Event) (sum eventslog.Usage) {
	t.Helper()
	log, err := eventslog.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer log.Close()
	require.NoError(t, log.Append(t.Context(), e))
	for u, err := range log.Usage(t.Context(), nil) {
		require.NoError(t, err)
		require.NoError(t, sum.Add(u))
	}
	return sum
}

// Left returns what a report says was left out.
func Left(r bridge.Report) (left []string) {
	for _, l := range r.LeftOut {
		left = append(left, l.String())
	}
	return left
}

// Converse has a conversation with a server that follows the script of answers: about a
// picture, with two calls whose results are pictures, and a further prompt. ask makes a
// request of messages, and returns the row of the response.
func Converse(t *testing.T, s *strict.Server, ask func(msgs []sessionstore.Message) (sessionstore.Message, bridge.Report, error)) {
	t.Helper()
	msgs := Rows(t, `{"role": "user", "content": [`+image+`, {"type": "text", "text": "What is it?"}]}`)
	answer := func() sessionstore.Message {
		row, report, err := ask(msgs)
		require.NoError(t, err)
		require.Empty(t, report)
		msgs = append(msgs, row)
		return row
	}
	for _, call := range answer().ToolCalls() {
		msgs = append(msgs, Rows(t, fmt.Sprintf(`{"role": "tool", "name": %q, "tool_call_id": %q, "content": [%s]}`, call.Name, call.ID, image))...)
	}
	require.Len(t, msgs, 4)
	require.Equal(t, []string{"hm, well"}, msgs[1].Thinking())
	require.Equal(t, "A pixel.", answer().Content())
	msgs = append(msgs, Rows(t, `{"role": "user", "content": "Thanks."}`)...)
	require.Equal(t, "Bye.", answer().Content())
	require.Empty(t, s.Refusals())
	require.Len(t, s.Requests(), 3)
}
