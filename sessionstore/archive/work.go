package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// work is the workflow of a session: its phases, and the messages about it. The zero work
// has neither.
type work struct {
	Messages []workflow.SessionMessage

	log    *workflow.Workflow
	id     string  // of the session
	ids    []int64 // of the records of the phases, in order
	redact Redactor
	err    error // that ended phases
}

// openWork reads the conversation of a workflow, and which phases there are. A
// damaged line is left out, and the error Is [sessionstore.ErrCorrupt] then.
func openWork(ctx context.Context, st *sessionstore.Store, id string, r Redactor) (*work, error) {
	w := &work{log: workflow.New(st), id: id, redact: r}
	phases, err := w.log.Phases(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	for _, record := range phases.Records {
		w.ids = append(w.ids, record.ID)
	}
	messages, damage := w.log.Conversation(ctx, id, nil)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return nil, damage
	}
	for i := range messages {
		if err := redactRecord(&messages[i], r); err != nil {
			return nil, fmt.Errorf("redact message %d of the workflow: %w", i+1, err)
		}
	}
	w.Messages = messages
	return w, errors.Join(phases.Damage, damage)
}

// phases yields the phases in order, one in memory at a time. When it ends early, w.err is
// the reason.
func (w *work) phases(ctx context.Context) iter.Seq[workflow.PhaseRecord] {
	return func(yield func(workflow.PhaseRecord) bool) {
		for i, id := range w.ids {
			record, err := w.log.Phase(ctx, w.id, id)
			if errors.Is(err, sessionstore.ErrNotFound) { // it was removed in between
				continue
			}
			if err == nil {
				err = redactRecord(&record, w.redact)
			}
			if err != nil {
				w.err = fmt.Errorf("phase %d: %w", i+1, err)
				return
			}
			if !yield(record) {
				return
			}
		}
	}
}

// redactRecord applies r, unless it is nil, to the line of a record.
func redactRecord(record any, r Redactor) error {
	if r == nil {
		return nil
	}
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if line, err = redactLine(line, r); err != nil {
		return err
	}
	if err := json.Unmarshal(line, record); err != nil {
		return fmt.Errorf("%w: %w", ErrRedacted, err)
	}
	return nil
}

// phaseTitle names a phase for people.
func phaseTitle(p workflow.PhaseRecord) string {
	if p.PhaseName == "" {
		return "Phase " + p.PhaseID
	}
	return p.PhaseName
}

// part is a text of a phase, with its name.
type part struct {
	Name, Text string
	Prompt     bool // it went to the model
}

// phaseParts returns the texts of a phase that are there.
func phaseParts(p workflow.PhaseRecord) (parts []part) {
	for _, one := range []struct {
		name   string
		text   *string
		prompt bool
	}{{"System prompt", p.SystemPrompt, true}, {"User input", p.UserInput, true}, {"Output", p.Output, false}} {
		if one.text != nil && *one.text != "" {
			parts = append(parts, part{one.name, *one.text, one.prompt})
		}
	}
	return parts
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// contextWriter ends with its context.
type contextWriter struct {
	ctx context.Context
	out io.Writer
}

func (w contextWriter) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.out.Write(b)
}

// redactLine applies r to a line without its line break.
func redactLine(line []byte, r Redactor) ([]byte, error) {
	out := r.Line(line)
	if bytes.IndexByte(out, '\n') >= 0 {
		return nil, ErrRedacted
	}
	return out, nil
}

// redactMessage applies r to the line of a message.
func redactMessage(m sessionstore.Message, r Redactor) (sessionstore.Message, error) {
	line, err := redactLine(m.AppendTo(nil), r)
	if err != nil {
		return m, err
	}
	m, err = sessionstore.ParseMessage(line)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrRedacted, err)
	}
	return m, err
}

// redactMessages applies r to the lines of msgs.
func redactMessages(ctx context.Context, msgs []sessionstore.Message, r Redactor) ([]sessionstore.Message, error) {
	out := slices.Clone(msgs)
	for i, m := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := redactMessage(m, r)
		if err != nil {
			return nil, fmt.Errorf("redact message %d: %w", i+1, err)
		}
		out[i] = m
	}
	return out, nil
}

// redactMetadata applies r to the lines of md.
func redactMetadata(md sessionstore.Metadata, r Redactor) (sessionstore.Metadata, error) {
	var text bytes.Buffer
	err := redactTo(&text, bytes.NewReader(md.AppendTo(nil)), r)
	if err == nil {
		md, err = sessionstore.ParseMetadata(text.Bytes())
	}
	if err != nil {
		return md, fmt.Errorf("redact metadata: %w", err)
	}
	return md, nil
}

// redactTo writes src to w with r applied to its lines. It holds one line in
// memory.
func redactTo(w io.Writer, src io.Reader, r Redactor) error {
	out := bufio.NewWriter(w)
	for in := jsonl.NewReader(src); ; {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		text, err := redactLine(line.Bytes, r)
		if err != nil {
			return fmt.Errorf("redact line %d: %w", line.Number, err)
		}
		_, err = out.Write(text)
		if err == nil && line.Ended {
			err = out.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
}

// The kinds of errors, for [errors.Is]. Two further ones are fs.ErrExist, when the store
// has a session of that id already, and [sessionstore.ErrInvalidID], when no session can
// have the id.
//
// [sessionstore.ErrInvalidID]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrInvalidID
var (
	ErrFormat     = errors.New("neither an archive nor lines of a transcript")
	ErrNoSession  = errors.New("it holds neither transcript.jsonl nor metadata.json")
	ErrTruncated  = errors.New("it is cut off")
	ErrNotRegular = errors.New("no regular file")
	ErrPath       = errors.New("not a path inside of a session")
	ErrTwice      = errors.New("there twice")
	ErrOneSession = errors.New("the format holds exactly one session")
	ErrRedacted   = errors.New("the redactor returned no line of the kind that it got")
	ErrNoMessage  = errors.New("it is no message")
	ErrLimit      = errors.New("it holds more than the options allow")
)

// LineError is the error for a line of JSONL that is no message. It Is [ErrNoMessage], and
// Err is the reason; neither has text of the line.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Is reports whether target is [ErrNoMessage].
func (e *LineError) Is(target error) bool { return target == ErrNoMessage }

// Unwrap returns the reason why the line is no message.
func (e *LineError) Unwrap() error { return e.Err }

// entryError is the error for an entry of an archive or a file of a directory that was
// refused. It Is the reason.
func entryError(name string, reason error) error { return fmt.Errorf("%q is %w", name, reason) }

// limitError is the error for an archive that holds more of something than [ReadOptions]
// allow.
func limitError(what string, most int64) error {
	if what == "sessions" && most == 1 {
		return limits.Errorf(ErrLimit, "it holds more than one session")
	}
	return limits.Errorf(ErrLimit, "it holds more than %d %s", most, what)
}
