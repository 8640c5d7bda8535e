package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// object is a JSON object whose members stand in order.
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

// jsonIndent is how far json.dumps indents reports; errors and what was not
// necessary stand on one line.
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
func (a *app) writeRows(v any, rows []sessionstore.Message) error {
	text, err := a.answer(v, jsonIndent)
	if err != nil {
		return err
	}
	at := bytes.LastIndex(text, []byte("[]")) + 1
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	margin := "\n" + strings.Repeat(" ", len(line)-len(bytes.TrimLeft(line, " ")))
	if len(rows) == 0 {
		margin = ""
	}
	out := bufio.NewWriter(a)
	out.Write(text[:at])
	for i, m := range rows {
		row, err := sessionstore.FormatJSON(json.RawMessage(m.AppendTo(nil)), jsonIndent)
		if err = cmp.Or(a.ctx.Err(), err); err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		inner := margin + "  "
		out.WriteString(inner)
		out.Write(bytes.ReplaceAll(row, []byte("\n"), []byte(inner)))
	}
	out.WriteString(margin)
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
