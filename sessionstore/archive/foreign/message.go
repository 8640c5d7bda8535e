package foreign

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// origin is where a message is from.
type origin struct {
	tool  Tool
	id    string  // the tool's id of its session
	lines []int32 // indexes of lines
	at    time.Time
}

type source struct {
	Tool string `json:"tool"`
	ID   string `json:"id"`
	Line string `json:"line"`
}

type messageMetadata struct {
	Timestamp string `json:"timestamp"`
	Source    source `json:"source"`
}

// metadata returns the metadata of a message. The numbers of its lines are one
// text, since one message may be of several lines; it is empty for a message that
// this package added.
func (o origin) metadata() messageMetadata {
	var lines []string
	for i, at := range o.lines {
		if i == 0 || o.lines[i-1] != at {
			lines = append(lines, strconv.Itoa(int(at)+1))
		}
	}
	return messageMetadata{pytime.FormatMillis(o.at), source{string(o.tool), o.id, strings.Join(lines, ",")}}
}

// finish gives a message its metadata, and writes the line breaks that only some
// readers know as escapes.
func (o origin) finish(m sessionstore.Message, err error) (sessionstore.Message, error) {
	if err == nil {
		m, err = m.With("metadata", o.metadata())
	}
	if err != nil {
		return m, err
	}
	row := m.AppendTo(nil)
	if !bytes.Contains(row, []byte("\xe2\x80")) && !bytes.Contains(row, []byte("\xc2\x85")) {
		return m, nil
	}
	row = bytes.ReplaceAll(row, []byte("\u2028"), []byte(`\u2028`))
	row = bytes.ReplaceAll(row, []byte("\u2029"), []byte(`\u2029`))
	return sessionstore.ParseMessage(bytes.ReplaceAll(row, []byte("\u0085"), []byte(`\u0085`)))
}

// userMessage returns a message of the user. parts are blocks of text, images and
// documents; one text alone is the content itself.
func (o origin) userMessage(parts []json.RawMessage, only string) (sessionstore.Message, error) {
	if len(parts) == 0 {
		return o.finish(sessionstore.Text("user", only, o.at))
	}
	return o.finish(sessionstore.NewMessage(struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}{"user", parts}))
}

// answerMessage returns a message of the model.
func (o origin) answerMessage(said, thought string, calls []sessionstore.ToolCall) (sessionstore.Message, error) {
	m, err := sessionstore.Text("assistant", said, o.at)
	if len(calls) > 0 {
		m, err = sessionstore.ToolCallMessage(said, o.at, calls...)
	}
	if err == nil && thought != "" {
		m, err = m.With("thinking_text", thought)
	}
	return o.finish(m, err)
}

// resultMessage returns a message of a tool.
func (o origin) resultMessage(call sessionstore.ToolCall, said string) (sessionstore.Message, error) {
	return o.finish(sessionstore.ToolResult(call.ID, call.Name, said, o.at))
}
