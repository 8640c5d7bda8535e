package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// object is a JSON object whose members have an order.
type object []member

// member is a member of an object; its value is raw JSON in Python's dialect.
type member struct {
	name  string
	value []byte
}

// raw returns the object as JSON.
func (o object) raw() []byte {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(m.name)...), ':'), m.value...)
	}
	return append(b, '}')
}

// list is a JSON array of objects.
type list []object

func (l list) raw() []byte {
	b := []byte{'['}
	for i, o := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o.raw()...)
	}
	return append(b, ']')
}

func quoted(text string) []byte {
	raw, _ := encoded(text) // strings never fail
	return raw
}

// encoded returns v, which encoding/json must be able to encode, as JSON.
func encoded(v any) ([]byte, error) { return sessionstore.FormatJSON(v, 0) }

// memberOf returns a member of metadata as JSON, null when it is not there.
func memberOf(md sessionstore.Metadata, name string) []byte {
	if raw, ok := md.Lookup(name); ok {
		return raw
	}
	return []byte("null")
}

// jsonIndent is the indent of reports, as json.dumps writes them. Errors, and reports
// of a change that was not necessary, are on one line.
const jsonIndent = 2

// writeJSON writes v, an object, a list or what encoding/json can encode, and
// a line break to standard output, as json.dumps does.
//
// With --json=v1 it is the result in an envelope.
func (a *app) writeJSON(v any, indent int) error {
	text, err := a.answer(v, indent)
	if err != nil {
		return err
	}
	_, err = a.Write(append(text, '\n'))
	return err
}

// writeRows is writeJSON of v, whose last value is an empty array, with rows in it. It formats a
// row at a time, until the context ends.
func (a *app) writeRows(v any, rows iter.Seq2[sessionstore.Message, error]) error {
	text, err := a.answer(v, jsonIndent)
	if err != nil {
		return err
	}
	at := bytes.LastIndex(text, []byte("[]")) + 1
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	margin := "\n" + strings.Repeat(" ", len(line)-len(bytes.TrimLeft(line, " ")))
	out := bufio.NewWriter(a)
	out.Write(text[:at])
	n := 0
	for m, err := range rows {
		var row []byte
		if err == nil {
			row, err = sessionstore.FormatJSON(json.RawMessage(m.AppendTo(nil)), jsonIndent)
		}
		if err = cmp.Or(a.ctx.Err(), err); err != nil {
			return err
		}
		if n++; n > 1 {
			out.WriteByte(',')
		}
		inner := margin + "  "
		out.WriteString(inner)
		out.Write(bytes.ReplaceAll(row, []byte("\n"), []byte(inner)))
	}
	if n > 0 {
		out.WriteString(margin)
	}
	out.Write(append(text[at:], '\n'))
	return out.Flush()
}

// answer returns the text of an answer.
func (a *app) answer(v any, indent int) ([]byte, error) {
	if own, ok := v.(interface{ raw() []byte }); ok {
		v = json.RawMessage(own.raw())
	}
	if a.typed {
		raw, err := sessionstore.FormatJSON(v, 0)
		if err != nil {
			return nil, err
		}
		v, indent, a.told = a.envelope("result", raw), jsonIndent, true
	}
	return sessionstore.FormatJSON(v, indent)
}

// literal returns the longest text without which a regular expression cannot
// match, in any case, or "" when it needs none. It holds nothing that JSON
// escapes.
func literal(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return ""
	}
	return needed(re)
}

func needed(re *syntax.Regexp) (longest string) {
	switch {
	case re.Op == syntax.OpLiteral:
		plain := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
		for _, part := range strings.FieldsFunc(string(re.Rune), plain) {
			longest = longer(longest, strings.ToLower(part))
		}
	case re.Op == syntax.OpConcat, re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat && re.Min > 0:
		for _, sub := range re.Sub {
			longest = longer(longest, needed(sub))
		}
	}
	return longest
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// answerForm says how answers are written.
type answerForm string

// The forms. The reference's has the members of the Python tools, which write
// numbers and times as text for people. The typed one has one envelope for all
// commands; testdata/json.v1.schema.json describes it.
const (
	asText      answerForm = ""
	asReference answerForm = "reference"
	asTyped     answerForm = "v1"
)

// Decode reads --json, --json=true, --json=false and --json=v1.
func (f *answerForm) Decode(ctx *kong.DecodeContext) error {
	*f = asReference
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch value := strings.ToLower(ctx.Scan.Pop().String()); value {
	case "v1":
		*f = asTyped
	case "true", "1", "yes":
	case "false", "0", "no":
		*f = asText
	default:
		return fmt.Errorf("there is no form %q: write --json or --json=v1", value)
	}
	return nil
}

// IsBool says that the flag needs no value.
func (*answerForm) IsBool() bool { return true }

// envelope returns an answer of --json=v1: the version, the command, and either
// a result or an error, which are raw JSON.
func (a *app) envelope(what string, value []byte) json.RawMessage {
	name := []byte("null") // no command was recognized
	if a.name != "" {
		name = quoted(a.name)
	}
	return object{{"version", []byte("1")}, {"command", name}, {what, value}}.raw()
}

// typedError is the error in an envelope.
type typedError struct {
	Message    string      `json:"message"`
	Candidates []candidate `json:"candidates"` // the sessions that an ambiguous id may mean
}

type candidate struct {
	ID       string  `json:"session_id"`
	Project  string  `json:"project"`
	Title    string  `json:"title"`
	Modified *string `json:"modified"`
}

// untyped are the commands whose answers have a form of their own: a document,
// a script, or a line at a time. The first ones are former names.
var untyped = []string{"prune", "purge", "recreate", "events show", "tail", "viewer", "help", "completion", "complete"}

// typedAnswer fails when --json=v1 is asked of a command that does not have it.
func (a *app) typedAnswer() error {
	if a.typed && slices.Contains(untyped, a.name) {
		return usageError{"--json=v1: this command has no such answer"}
	}
	return nil
}

// commandName returns the words that call a command.
func commandName(n *kong.Node) string {
	name := n.Name
	for p := n.Parent; p != nil && p.Type == kong.CommandNode; p = p.Parent {
		name = p.Name + " " + name
	}
	return name
}

// leafName is the commandName of a command that has none below it, "" of another.
func leafName(n *kong.Node) string {
	if n == nil || len(n.Children) > 0 {
		return ""
	}
	return commandName(n)
}

// tellTyped writes an error as the answer, unless the answer was written before
// the error came up: it stays one JSON document.
func (a *app) tellTyped(text string, found []projects.Summary) {
	if a.told {
		return
	}
	e := typedError{Message: text, Candidates: []candidate{}}
	for _, s := range found {
		e.Candidates = append(e.Candidates, candidate{s.ID, s.Project, s.Title, moment(s.Changed)})
	}
	raw, err := encoded(e)
	if err == nil {
		raw, err = sessionstore.FormatJSON(a.envelope("error", raw), jsonIndent)
	}
	if err == nil {
		a.Print(string(raw) + "\n")
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

// typedSession is a session of a list.
type typedSession struct {
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
}

func sessionOf(s projects.Summary, path string) typedSession {
	return typedSession{
		ID: s.ID, Project: s.Project, Path: path, Title: s.Title, Created: moment(s.Created), Modified: moment(s.Changed),
		Messages: s.Messages, Turns: s.Turns, Prompts: s.Prompts, Bundle: known(s.Bundle), Model: known(s.Model),
		WorkingDir: known(s.WorkingDir), Parent: known(s.Parent), Fork: s.Fork, ConflictOf: known(s.ConflictOf), Sub: s.Sub, Internal: s.Internal, Damaged: s.Damaged,
	}
}
