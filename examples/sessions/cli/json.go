package cli

import (
	"encoding/json"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
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
		b = append(append(pyjson.AppendQuoted(b, m.name, pyjson.Style{}), ':'), m.value...)
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

// membersOf returns the members of a JSON object.
func membersOf(raw []byte) (o object) {
	for m := range pyjson.Members(raw) {
		o = append(o, member{pyjson.Text(m.Key), m.Value})
	}
	return o
}

func quoted(text string) []byte { return pyjson.AppendQuoted(nil, text, pyjson.Style{}) }

// encoded returns v, which encoding/json must be able to encode, as JSON.
func encoded(v any) ([]byte, error) { return pyjson.Encode(v) }

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
func (a *app) writeJSON(v any, indent int) error {
	var raw []byte
	switch v := v.(type) {
	case interface{ raw() []byte }:
		raw = v.raw()
	case json.RawMessage:
		raw = v
	default:
		var err error
		if raw, err = encoded(v); err != nil {
			return err
		}
	}
	text, err := pyjson.Append(nil, raw, pyjson.Style{Indent: indent, ASCII: true})
	if err != nil {
		return err
	}
	_, err = a.Write(append(text, '\n'))
	return err
}
