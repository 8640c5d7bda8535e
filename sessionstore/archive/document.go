package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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
	d := &document{ID: s.ID, Title: md.Text("name"), Messages: len(msgs), Turns: view.Turns, view: view, work: &work{}, opts: o}
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
		d.Notes = append(d.Notes, "What looks like a secret was replaced. Images are as they were.")
	}
	return d, nil
}

func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// messages yields the messages to show, in order, until ctx ends.
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
			left := m.Text != nil || len(m.Files) > 0 || m.Thinking != nil || len(m.Calls) > 0 || len(m.Results) > 0
			if d.opts.NoReminders && m.Injected || !left && !m.Starts {
				continue
			}
			if !yield(m) {
				return
			}
		}
	}
}

// author returns the name that documents show for the writer of a message.
func author(m conversation.Message) string {
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

// timeText returns a time in words.
func timeText(at string) string {
	if len(at) < len("2006-01-02T15:04:05Z") {
		return at
	}
	return at[:10] + " " + at[11:19] + " UTC"
}

// workflowMessage is a message about a workflow as it is shown.
func workflowMessage(m workflow.SessionMessage) conversation.Message {
	return conversation.Message{Role: m.Role, Time: m.CreatedAt, Text: &conversation.Text{Text: m.Content, Size: len(m.Content)}}
}

// transcript writes the lines of r as the transcript, and metadata with the creation time
// and the number of turns found in them. blank is the number of empty lines before r.
func (x *extraction) transcript(ctx context.Context, r io.Reader, blank int) error {
	created, turns := time.Time{}, 0
	err := x.tx.Dir().Replace(sessiondir.Transcript, x.core.Syncs(), x.core.Now(), func(w io.Writer) error {
		out := bufio.NewWriter(w)
		var line []byte
		err := eachMessage(ctx, r, blank, func(m sessionstore.Message) error {
			if at, ok := m.Timestamp(); ok && created.IsZero() {
				created = at
			}
			if m.Role() == "user" {
				turns++
			}
			line = append(m.AppendTo(line[:0]), '\n')
			n, err := out.Write(line)
			x.result.Bytes += int64(n)
			return err
		})
		if err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	x.wrote(sessiondir.Transcript)
	if created.IsZero() {
		created = x.core.Now()
	}
	return x.setMetadata(created, turns)
}

// eachMessage calls do for each line that is not blank. The error is a
// *LineError when one is no message. It holds one line in memory.
func eachMessage(ctx context.Context, r io.Reader, blank int, do func(sessionstore.Message) error) error {
	for in := jsonl.NewReader(r); ; {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		row := bytes.TrimPrefix(line.Bytes, []byte(mark)) // of a file that stands behind another one
		if len(pyjson.TrimSpace(row)) == 0 {
			continue
		}
		m, err := parseMessage(bytes.TrimRight(row, "\r"))
		if err != nil {
			return &LineError{blank + line.Number, err}
		}
		if err := do(m); err != nil {
			return err
		}
	}
}

var (
	errNoRole  = errors.New(`it has no "role"`)
	errOddRole = errors.New(`its "role" is no text, or empty`)
)

// parseMessage returns the message of a line, or an error with the reason why the line is
// not a message.
func parseMessage(line []byte) (sessionstore.Message, error) {
	m, err := sessionstore.ParseMessage(line)
	if err != nil {
		return m, err
	}
	if _, ok := m.Lookup("role"); !ok {
		return m, errNoRole
	}
	if m.Role() == "" {
		return m, errOddRole
	}
	return m, nil
}

// setMetadata gives a session of lines the metadata of a new one.
func (x *extraction) setMetadata(created time.Time, turns int) error {
	dir := x.core.Workspace()
	if dir == "" {
		dir, _ = os.Getwd() // a process may have no working directory
	}
	md, err := sessionstore.NewMetadata(struct {
		ID      string `json:"session_id"`
		Created string `json:"created"`
		Bundle  string `json:"bundle"`
		Model   string `json:"model"`
		Turns   int    `json:"turn_count"`
		Dir     string `json:"working_dir"`
		Name    string `json:"name,omitempty"`
	}{x.result.ID, created.UTC().Format("2006-01-02T15:04:05.000000+00:00"), "unknown", "unknown", turns, dir, x.opts.Name})
	if err != nil {
		return err
	}
	return x.tx.SetMetadata(md)
}

// writeLines writes the transcript of session id unchanged, one message a line. It holds
// one line in memory. For a damaged transcript the error Is [sessionstore.ErrCorrupt],
// after all lines that could be read.
func writeLines(ctx context.Context, w io.Writer, st *sessionstore.Store, id string, r Redactor) error {
	out := bufio.NewWriter(w)
	var line []byte
	n := 0
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			if ferr := out.Flush(); ferr != nil {
				return ferr
			}
			return err
		}
		n++
		if r != nil {
			if m, err = redactMessage(m, r); err != nil {
				return fmt.Errorf("redact message %d: %w", n, err)
			}
		}
		line = append(m.AppendTo(line[:0]), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
