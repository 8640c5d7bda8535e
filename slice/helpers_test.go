package slice_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/internal/rowtest"
)

// parse makes messages of lines.
func parse(t testing.TB, lines ...string) []sessionstore.Message {
	t.Helper()
	msgs := make([]sessionstore.Message, 0, len(lines))
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		msgs = append(msgs, m)
	}
	return msgs
}

func lines(msgs []sessionstore.Message) []string {
	list := make([]string, 0, len(msgs))
	for _, m := range msgs {
		list = append(list, string(m.AppendTo(nil)))
	}
	return list
}

// Rows that the tests share with others.
const (
	ask      = rowtest.Ask
	reminder = rowtest.Reminder
	say      = rowtest.Say
	moreText = rowtest.MoreText
)

var (
	calling   = rowtest.Calling
	result    = rowtest.Result
	using     = rowtest.Using
	answering = rowtest.Answering
	callOf    = rowtest.CallOf
)

func diagnosed(t testing.TB, msgs []sessionstore.Message) slice.Diagnosis {
	t.Helper()
	d, err := slice.Diagnose(msgs)
	require.NoError(t, err)
	return d
}

// randomLines makes a conversation in which all is possible that is a message.
func randomLines(r *rand.Rand) []string {
	id := func() string { return fmt.Sprintf("c%d", r.IntN(6)) }
	kinds := []func() string{
		func() string { return ask },
		func() string { return reminder },
		func() string { return say },
		func() string { return calling(id()) },
		func() string { return calling(id(), id()) },
		func() string { return calling() },
		func() string { return result(id()) },
		func() string { return result(id()) },
		func() string { return using(id()) },
		func() string { return answering(id(), "") },
		func() string { return answering(id(), moreText) },
		func() string { return answering(id(), `, {"type": "text", "text": "<system-reminder>"}`) },
		func() string { return `{"role": "assistant", "tool_calls": [{"tool": "x"}, 5, {"id": null}]}` },
		func() string { return `{"role": "assistant", "content": [{"type": "tool_use"}, "s"]}` },
		func() string { return `{"role": "tool", "tool_call_id": 7}` },
		func() string { return calling("") },
		func() string { return result("") },
		func() string {
			return `{"role":"assistant","x":1.0,"tool_calls":[ {"id":"c1"},{"tool":"t"} ],"content":[{"type":"text", "id":"c1"},{"type":"tool_use","id":"c1"}],"y":[]}`
		},
		func() string { return `{"role": "assistant", "tool_calls": {"id": 1}, "content": 5}` },
	}
	list := make([]string, r.IntN(14))
	for i := range list {
		list[i] = kinds[r.IntN(len(kinds))]()
	}
	return list
}
