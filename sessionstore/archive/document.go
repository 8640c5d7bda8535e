package archive

import (
	"context"
	"iter"
	"strconv"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// document is a session as it is shown.
type document struct {
	ID       string
	Title    string // its name, else its id
	Facts    []fact // in order; unknown ones are left out
	Notes    []string
	Messages int
	Turns    int

	view *conversation.View
	work *work
	opts *WriteOptions
}

// fact is something that is known of a session.
type fact struct{ Name, Value string }

// newDocument returns the document of a session that Load returned beside the
// error damage, which may be nil.
func newDocument(ctx context.Context, s *sessionstore.Session, damage error, o *WriteOptions) (*document, error) {
	msgs, md := s.Messages, s.Metadata
	if o.Redact != nil {
		var err error
		if msgs, err = redactMessages(ctx, msgs, o.Redact); err != nil {
			return nil, err
		}
		if md, err = redactMetadata(md, o.Redact); err != nil {
			return nil, err
		}
	}
	view, err := conversation.New(msgs)
	if err != nil {
		return nil, err
	}
	d := &document{ID: s.ID, Title: md.Text("name"), Messages: len(msgs), Turns: view.Turns, view: view, opts: o}
	if d.Title == "" {
		d.Title = "Session " + s.ID
	}
	bundle, _ := md.Bundle()
	for _, f := range []fact{
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
	if !view.Diagnosis.Healthy() {
		d.Notes = append(d.Notes, "Calls and results of tools do not match.")
	}
	if o.Redact != nil {
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

// messages yields what is shown, in order, until ctx ends.
func (d *document) messages(ctx context.Context) iter.Seq[conversation.Message] {
	return func(yield func(conversation.Message) bool) {
		for i := range d.Messages {
			if ctx.Err() != nil {
				return
			}
			m := d.view.Messages(i, i+1, conversation.Limits{})[0]
			if d.opts.NoTools {
				m.Calls, m.Results = nil, nil
			}
			if d.opts.NoThinking {
				m.Thinking = nil
			}
			left := m.Text != nil || m.Thinking != nil || len(m.Calls) > 0 || len(m.Results) > 0
			if d.opts.NoReminders && m.Injected || !left && !m.Starts {
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

// when returns a time in words.
func when(at string) string {
	if len(at) < len("2006-01-02T15:04:05Z") {
		return at
	}
	return at[:10] + " " + at[11:19] + " UTC"
}

// said is a message about a workflow as it is shown.
func said(m workflow.SessionMessage) conversation.Message {
	return conversation.Message{Role: m.Role, Time: m.CreatedAt, Text: &conversation.Text{Text: m.Content, Size: len(m.Content)}}
}
