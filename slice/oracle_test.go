package slice_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// seenBy is a message as encoding/json decodes it: what the properties are
// checked with does not share code with what it checks.
type seenBy struct {
	row     map[string]any
	role    string
	calls   []string // ids of calls
	unnamed int      // calls that have none
	results []string // ids of calls that it answers
	parts   int      // blocks of its content that are no calls, and no results with an id
}

// turnsMessage decodes messages; it reports false where encoding/json cannot, as it
// knows no NaN, or would not keep ids apart.
func turnsMessage(msgs []sessionstore.Message) (list []seenBy, ok bool) {
	for _, m := range msgs {
		line := m.AppendTo(nil)
		var s seenBy
		if strings.Contains(string(line), `\u`) || json.Unmarshal(line, &s.row) != nil {
			return nil, false
		}
		s.role, _ = s.row["role"].(string)
		s.look()
		list = append(list, s)
	}
	return list, true
}

func (s *seenBy) look() {
	blocks, _ := s.row["content"].([]any)
	switch s.role {
	case "tool":
		if id, ok := s.row["tool_call_id"].(string); ok {
			s.results = append(s.results, id)
		}
	case "assistant":
		list, _ := s.row["tool_calls"].([]any)
		for _, v := range list {
			if c, ok := v.(map[string]any); ok {
				s.call(c)
			}
		}
		for _, v := range blocks {
			if b, ok := v.(map[string]any); ok && b["type"] == "tool_use" {
				s.call(b)
			} else {
				s.parts++
			}
		}
	case "user":
		for _, v := range blocks {
			b, _ := v.(map[string]any)
			id, ok := b["tool_use_id"]
			if !ok {
				id = b["tool_call_id"]
			}
			if id, ok := id.(string); ok && b["type"] == "tool_result" {
				s.results = append(s.results, id)
				continue
			}
			s.parts++
		}
	}
}

func (s *seenBy) call(c map[string]any) {
	if id, ok := c["id"].(string); ok {
		s.calls = append(s.calls, id)
	} else {
		s.unnamed++
	}
}

// begins reports whether the message begins a turn.
func (s seenBy) begins() bool {
	blocks, _ := s.row["content"].([]any)
	return s.role == "user" && !slices.ContainsFunc(blocks, func(v any) bool {
		b, _ := v.(map[string]any)
		return b["type"] == "tool_result"
	})
}

func startsOf(list []seenBy) (starts []int) {
	for i, s := range list {
		if s.begins() {
			starts = append(starts, i)
		}
	}
	return starts
}

// orphansIn are the ids of calls that nothing answers.
func orphansIn(list []seenBy) map[string]bool {
	ids := map[string]bool{}
	for _, s := range list {
		for _, id := range s.calls {
			ids[id] = true
		}
	}
	for _, s := range list {
		for _, id := range s.results {
			delete(ids, id)
		}
	}
	return ids
}

// messagesOf reads the lines of a transcript that are messages.
func messagesOf(transcript string) []sessionstore.Message {
	msgs := []sessionstore.Message{}
	for line := range strings.Lines(transcript) {
		if m, err := sessionstore.ParseMessage([]byte(line)); err == nil {
			msgs = append(msgs, m)
		}
	}
	return msgs
}

// goldenTranscripts are the transcripts of the golden vectors.
func goldenTranscripts(tb testing.TB) (list []string) {
	tb.Helper()
	for _, name := range []string{"slice_to_turn", "diagnose", "turn_summary"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "golden", name+".json"))
		require.NoError(tb, err)
		var cases []struct {
			Messages   string `json:"messages_json"`
			Transcript struct{ Text string }
		}
		require.NoError(tb, json.Unmarshal(data, &cases))
		for _, c := range cases {
			text := c.Transcript.Text
			var rows []json.RawMessage
			if c.Messages != "" && json.Unmarshal([]byte(c.Messages), &rows) == nil {
				for _, row := range rows {
					text += string(row) + "\n"
				}
			}
			if text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	require.Greater(tb, len(list), 100)
	return list
}
