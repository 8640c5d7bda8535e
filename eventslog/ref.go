package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
)

// Ref holds the names by which an event is tied to the messages of its session.
// [slice.Associate] finds the message. It holds no content.
type Ref struct {
	Line      int    // from 1; 0: not known
	Event     string // its name
	SessionID string // "" if the event names none
	MessageID string // of the message that it is about; "" if it names none
	CallID    string // of the call of a tool that it is about; "" if it names none
	Prompt    TextSum
	Auxiliary bool // it is about naming or summing up the session, not about its messages
}

// TextSum is the SHA-256 of a text that was submitted as a prompt. The zero TextSum means
// no text.
type TextSum [32]byte

// RowError is the fault of a row of a log, and holds none of its content. The codes are the
// codes of the newest tools:
//
//	invalid_event            it is no JSON object with the name of an event
//	incomplete_event         it is the last row, without an end, and no JSON: a writer may be at work on it
//	invalid_event_data       its data is no object
//	invalid_session_id       the id of a session is no text
//	conflicting_session_ids  it names two sessions
//	unscoped_event           it names no session
//	event_too_long           it is longer than the longest line that is read; not of the newest tools
//
// All but unscoped_event are left out.
type RowError struct {
	Code string
	Line int   // from 1
	size int64 // of a row that is too long
}

const tooLong = "event_too_long"

func (e RowError) Error() string {
	if e.size > 0 {
		return fmt.Sprintf("line %d: %s: it has %d bytes", e.Line, e.Code, e.size)
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Code)
}

// Refs returns the names by which the events of the log are tied to messages, in order, and
// the faults of rows. Rows of other sessions are left out and not reported. Every log is
// read by the rules of the newest tools. A log that is missing is empty. Memory holds one
// row at a time, and some 150 bytes for each event.
func (l *Log) Refs(ctx context.Context) (refs []Ref, wrong []RowError, err error) {
	names := map[string]string{}
	for ln, err := range l.rows(ctx) {
		if err != nil {
			return nil, nil, fmt.Errorf("read events: %w", err)
		}
		if ln.long {
			wrong = append(wrong, RowError{tooLong, ln.number, ln.size})
			continue
		}
		e, counts, code := capture.Parse(l.row(ln))
		if code != "" {
			wrong = append(wrong, RowError{Code: string(code), Line: ln.number})
		}
		if counts {
			refs = append(refs, refOf(e, names))
		}
	}
	return refs, wrong, nil
}

// rows yields the lines of the log; a missing one has none. As for the newest tools, LF alone
// ends a line. An error comes last.
func (l *Log) rows(ctx context.Context) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := l.open()
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(line{}, err)
			return
		}
		defer f.Close()
		ls := l.events()
		ls.newer = true
		if err := ls.begin(ctx, f, Cursor{}); err != nil {
			yield(line{}, err)
			return
		}
		ls.all()(yield)
	}
}

// row returns the line as package capture takes it, with the session's id.
func (l *Log) row(ln line) (jsonl.Line, string) {
	return jsonl.Line{Bytes: ln.text, Number: ln.number, Offset: ln.offset, Ended: ln.ended}, l.sessionID
}

// refOf returns the Ref of an event. Equal names share their memory by names.
func refOf(e capture.Event, names map[string]string) Ref {
	share := func(name string) string {
		if known, ok := names[name]; ok {
			return known
		}
		names[name] = name
		return name
	}
	r := e.Ref()
	return Ref{
		Line: e.Line, Event: share(e.Name), SessionID: share(e.Session),
		MessageID: r.MessageID, CallID: r.CallID, Prompt: r.Prompt, Auxiliary: r.Auxiliary,
	}
}
