package accept_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/internal/rowtest"
)

var providers = []accept.Provider{accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses, accept.Gemini}

func mend(t testing.TB, p accept.Provider, msgs []sessionstore.Message) accept.Fixed {
	t.Helper()
	m, err := accept.Fix(p, msgs)
	if err != nil {
		require.NoError(t, err, "%v: %v", p, lines(msgs))
	}
	return m
}

// Rows that the tests share with others.
const (
	ask      = rowtest.Ask
	reminder = rowtest.Reminder
	say      = rowtest.Say
	moreText = rowtest.MoreText
	note     = rowtest.Note
	signed   = rowtest.Signed
)

var (
	calling   = rowtest.Calling
	result    = rowtest.Result
	using     = rowtest.Using
	answering = rowtest.Answering
	answer    = rowtest.Answer
	callOf    = rowtest.CallOf
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

// conversation returns the messages of [rowtest.Conversation], and their size.
func conversation(t testing.TB, n int) (msgs []sessionstore.Message, size int64) {
	t.Helper()
	rows := rowtest.Conversation(n)
	for _, row := range rows {
		size += int64(len(row))
	}
	return parse(t, rows...), size
}
