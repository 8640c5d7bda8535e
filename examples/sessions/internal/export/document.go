package export

import (
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/viewer/conversation"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Redactor replaces what is secret in a line, and leaves JSON what it is. A
// hybrid.Redactor is one.
type Redactor interface{ Line(line []byte) []byte }

// Parts say what of a conversation is written.
type Parts struct {
	NoTools     bool // calls and results are left out
	NoThinking  bool
	NoReminders bool // messages that no person wrote in the user's name are left out
}

// Document is a session as it is shown.
type Document struct {
	ID       string
	Title    string // its name, else its id
	Facts    []Fact // in order; those that are not known are not there
	Notes    []string
	Messages int
	Turns    int

	rows  *conversation.Rows
	parts Parts
}

// Fact is something that is known of a session.
type Fact struct{ Name, Value string }

// New returns the document of a session that Load returned, with the error
// that it returned beside it, if any. r may be nil.
func New(s *sessionstore.Session, damage error, parts Parts, r Redactor) (*Document, error) {
	msgs, md := s.Messages, s.Metadata
	if r != nil {
		var err error
		if msgs, err = redacted(msgs, r); err != nil {
			return nil, err
		}
		if md, err = redactedMetadata(md, r); err != nil {
			return nil, err
		}
	}
	rows, err := conversation.New(msgs)
	if err != nil {
		return nil, err
	}
	d := &Document{ID: s.ID, Title: md.Text("name"), Messages: len(msgs), Turns: rows.Turns, rows: rows, parts: parts}
	if d.Title == "" {
		d.Title = "Session " + s.ID
	}
	bundle, _ := md.Bundle()
	for _, f := range []Fact{
		{"Session", s.ID},
		{"Description", md.Text("description")},
		{"Created", md.Text("created")},
		{"Bundle", bundle},
		{"Model", md.Text("model")},
		{"Directory", md.Text("working_dir")},
		{"Forked from", md.Text("parent_id")},
		{"Length", plural(d.Turns, "turn") + ", " + plural(d.Messages, "message")},
	} {
		if f.Value != "" && f.Value != "unknown" {
			d.Facts = append(d.Facts, f)
		}
	}
	if s.Recovered != nil {
		d.Notes = append(d.Notes, "A file of the session is damaged; this was read from its backup.")
	}
	if damage != nil {
		d.Notes = append(d.Notes, "The session is damaged; this is what could be read.")
	}
	if !rows.Diagnosis.Healthy() {
		d.Notes = append(d.Notes, "Calls and results of tools do not match.")
	}
	if r != nil {
		d.Notes = append(d.Notes, "What looks like a secret was replaced.")
	}
	return d, nil
}

func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// redacted returns the messages with r applied to their lines.
func redacted(msgs []sessionstore.Message, r Redactor) ([]sessionstore.Message, error) {
	out := slices.Clone(msgs)
	for i, m := range out {
		line := m.AppendTo(nil)
		m, err := sessionstore.ParseMessage(r.Line(line))
		if err != nil {
			return nil, fmt.Errorf("redact message %d: %w", i+1, err)
		}
		out[i] = m
	}
	return out, nil
}

func redactedMetadata(md sessionstore.Metadata, r Redactor) (sessionstore.Metadata, error) {
	md, err := sessionstore.ParseMetadata(redactLines(md.AppendTo(nil), r))
	if err != nil {
		return md, fmt.Errorf("redact metadata: %w", err)
	}
	return md, nil
}

// messages yields what is shown, in order.
func (d *Document) messages() iter.Seq[conversation.Message] {
	return func(yield func(conversation.Message) bool) {
		for i := range d.Messages {
			m, _ := d.rows.Whole(i)
			if d.parts.NoTools {
				m.Calls, m.Results = nil, nil
			}
			if d.parts.NoThinking {
				m.Thinking = nil
			}
			left := m.Text != nil || m.Thinking != nil || len(m.Calls) > 0 || len(m.Results) > 0
			if d.parts.NoReminders && m.Injected || !left && !m.Starts {
				continue
			}
			if !yield(m) {
				return
			}
		}
	}
}

// who names the writer of a message for people.
func who(m conversation.Message) string {
	switch {
	case m.Injected:
		return "Reminder"
	case m.Role == "user":
		return "User"
	case m.Role == "assistant":
		return "Assistant"
	case m.Role == "tool":
		return "Tool"
	case m.Role == "":
		return "Message without a role"
	}
	return "Role " + m.Role
}

// when returns the time of a message in words.
func when(m conversation.Message) string {
	if len(m.Time) < len("2006-01-02T15:04:05Z") {
		return m.Time
	}
	return m.Time[:10] + " " + m.Time[11:19] + " UTC"
}
