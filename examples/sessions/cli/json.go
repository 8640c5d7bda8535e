package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// forScripts marks the commands of amplifier-session. Where standard output is no
// terminal they write what amplifier-session writes, with its exit codes, and so they do
// with --json.
type forScripts struct{}

func (forScripts) scripted() {}

// answer writes the answer of a command: v as JSON if JSON is asked for, else what show
// writes for people.
func (a *app) answer(v any, show func()) error {
	if a.json {
		return a.writeJSON(v)
	}
	show()
	return nil
}

// list writes the answer of a command that lists: v as JSON, or the rows as a table on a
// terminal and as lines of tab-separated cells in a pipe. Where there are no rows it notes
// none, unless that is empty.
func (a *app) list(v any, none string, columns []screen.Column, rows [][]string) error {
	return a.answer(v, func() {
		switch {
		case len(rows) > 0:
			a.Table(columns, rows)
		case none != "":
			a.Notef("%s", none)
		}
	})
}

// writeJSON writes v, an object or what encoding/json can encode, and a line break to
// standard output, as json.dumps does with an indent of two.
func (a *app) writeJSON(v any) error { return a.dump(v, jsonIndent) }

// writeLine is writeJSON on one line.
func (a *app) writeLine(v any) error { return a.dump(v, 0) }

const jsonIndent = 2

func (a *app) dump(v any, indent int) error {
	text, err := formatted(v, indent)
	if err != nil {
		return err
	}
	a.answered.Store(true)
	_, err = a.Write(append(text, '\n'))
	return err
}

func formatted(v any, indent int) ([]byte, error) {
	return sessionstore.FormatJSON(json.RawMessage(raw(v)), indent)
}

// writeRows is writeJSON of v, whose last value is an empty array, with rows in it. It formats a
// row at a time, until the context ends.
func (a *app) writeRows(v any, rows iter.Seq2[sessionstore.Message, error]) error {
	text, err := formatted(v, jsonIndent)
	if err != nil {
		return err
	}
	at := bytes.LastIndex(text, []byte("[]")) + 1
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	margin := "\n" + strings.Repeat(" ", len(line)-len(bytes.TrimLeft(line, " ")))
	a.answered.Store(true)
	out := bufio.NewWriter(a)
	out.Write(text[:at])
	n := 0
	var stored, row []byte
	for m, err := range rows {
		if err == nil {
			stored = m.AppendTo(stored[:0])
			row, err = sessionstore.FormatJSON(json.RawMessage(stored), jsonIndent)
		}
		if err = cmp.Or(a.ctx.Err(), err); err != nil {
			return err
		}
		if n++; n > 1 {
			out.WriteByte(',')
		}
		for line := range bytes.SplitSeq(row, []byte("\n")) {
			out.WriteString(margin + "  ")
			out.Write(line)
		}
	}
	if n > 0 {
		out.WriteString(margin)
	}
	out.Write(append(text[at:], '\n'))
	return out.Flush()
}

// object is a JSON object whose members have an order, and may be in Python's dialect.
type object []member

// member is a member of an object. Its value is a value for [raw].
type member struct {
	name  string
	value any
}

// list is a JSON array of objects.
type list []object

// raw returns a value as JSON: an object, a list, JSON as []byte or json.RawMessage, or what
// encoding/json can encode. Another value becomes nothing, which no JSON is valid with.
func raw(v any) (b []byte) {
	switch v := v.(type) {
	case []byte:
		return v
	case object:
		for _, m := range v {
			b = append(append(append(append(b, ','), raw(m.name)...), ':'), raw(m.value)...)
		}
		return append(append([]byte{'{'}, bytes.TrimPrefix(b, []byte{','})...), '}')
	case list:
		for _, o := range v {
			b = append(append(b, ','), raw(o)...)
		}
		return append(append([]byte{'['}, bytes.TrimPrefix(b, []byte{','})...), ']')
	}
	b, _ = sessionstore.FormatJSON(v, 0)
	return b
}

// memberOf returns a member of metadata as JSON, null when it is not there.
func memberOf(md sessionstore.Metadata, name string) []byte {
	if raw, ok := md.Lookup(name); ok {
		return raw
	}
	return []byte("null")
}

// failure is an error as an answer.
type failure struct {
	Error      string      `json:"error"`
	Candidates []candidate `json:"candidates,omitempty"` // the sessions that an ambiguous id may mean
}

type candidate struct {
	ID       string  `json:"session_id"`
	Project  string  `json:"project"`
	Title    string  `json:"title"`
	Modified *string `json:"modified"`
}

// answerError writes an error as the answer, on one line as amplifier-session does, unless
// an answer was written before the error came up: standard output is one JSON value.
func (a *app) answerError(text string, found []projects.Summary) {
	if !a.json || a.answered.Load() {
		return
	}
	f := failure{Error: text}
	for _, s := range found {
		f.Candidates = append(f.Candidates, candidate{s.ID, s.Project, s.Title, moment(s.Changed)})
	}
	if text, err := formatted(f, 0); err == nil {
		a.Print(string(text) + "\n")
	}
}

// moment is a time as RFC 3339 in UTC, nil for none.
func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339Nano)
	return &text
}

// known is nil for a text that is empty or "unknown".
func known(text string) *string {
	if text == "" || text == "unknown" {
		return nil
	}
	return &text
}

// sessionShown is a session of a list.
type sessionShown struct {
	ID         string  `json:"session_id"`
	Project    string  `json:"project"`
	Path       string  `json:"path"`
	Title      string  `json:"title"`
	Created    *string `json:"created"`
	Modified   *string `json:"modified"`
	Messages   int     `json:"messages"`
	Turns      int     `json:"turns"`
	Prompts    int     `json:"prompts"`
	Bundle     *string `json:"bundle"`
	Model      *string `json:"model"`
	WorkingDir *string `json:"working_dir"`
	Parent     *string `json:"parent_id"`
	Fork       bool    `json:"fork"`
	ConflictOf *string `json:"conflict_of"`
	Sub        bool    `json:"sub_session"`
	Internal   bool    `json:"internal"`
	Damaged    bool    `json:"damaged"`
	Unanswered int     `json:"unanswered"`
	Hidden     bool    `json:"hidden"`
	Refused    bool    `json:"refused"`
}

func (a *app) sessionOf(s projects.Summary, path string) sessionShown {
	return sessionShown{
		ID: s.ID, Project: s.Project, Path: path, Title: s.Title, Created: moment(s.Created), Modified: moment(s.Changed),
		Messages: s.Messages, Turns: s.Turns, Prompts: s.Prompts, Bundle: known(s.Bundle), Model: known(s.Model),
		WorkingDir: known(s.WorkingDir), Parent: known(s.Parent), Fork: s.Fork, ConflictOf: known(s.ConflictOf), Sub: s.Sub, Internal: s.Internal, Damaged: s.Damaged, Unanswered: s.Unanswered, Hidden: a.hides(path), Refused: wouldBeRefused(s.Summary),
	}
}
