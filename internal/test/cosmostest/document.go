package cosmostest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// maxDepth is how deep arrays and objects may be nested.
const maxDepth = 128

// A document is a JSON object as the service stores it: members keep their order and their
// names are unique. It is immutable.
type document []member

type member struct {
	name  string
	value value
}

// A value is the JSON of a value without white space, where strings have no more escapes
// than they must and numbers are doubles. A member that a document does not have is "".
type value string

// parseDocument reads data as one JSON object and nothing else.
func parseDocument(data []byte) (document, error) {
	text, err := parseValue(data)
	if err != nil {
		return nil, err
	}
	if text[0] != '{' {
		return nil, errors.New("not an object")
	}
	d := document{}
	for m := range pyjson.Members([]byte(text)) {
		d = append(d, member{pyjson.Text(m.Key), value(m.Value)})
	}
	return d, nil
}

// parseValue reads data as one JSON value and nothing else. It refuses invalid UTF-8, halves
// of surrogate pairs, repeated names, numbers that are no finite double, and deep nesting.
func parseValue(data []byte) (value, error) {
	err := pyjson.Check(data, pyjson.Tolerant)
	if err != nil {
		return "", err
	}
	w := writer{out: make([]byte, 0, len(data))}
	err = w.value(data, 0)
	return value(w.out), err
}

// A writer writes checked JSON as a value has it.
type writer struct{ out []byte }

func (w *writer) value(raw []byte, depth int) (err error) {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch pyjson.KindOf(raw) {
	case pyjson.Object:
		return w.object(raw, depth)
	case pyjson.Array:
		w.out = append(w.out, '[')
		for item := range pyjson.Elements(raw) {
			if err := w.value(item, depth+1); err != nil {
				return err
			}
			w.out = append(w.out, ',')
		}
		w.out = append(bytes.TrimSuffix(w.out, []byte(",")), ']')
		return nil
	case pyjson.String:
		w.out, err = appendText(w.out, raw)
	case pyjson.Integer, pyjson.Float:
		f, _ := strconv.ParseFloat(string(pyjson.Trim(raw)), 64)
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return errors.New("number out of range")
		}
		w.out = append(w.out, number(f)...)
	default:
		w.out = append(w.out, pyjson.Trim(raw)...)
	}
	return err
}

func (w *writer) object(raw []byte, depth int) (err error) {
	w.out = append(w.out, '{')
	var names []string
	for m := range pyjson.Members(raw) {
		start := len(w.out)
		if w.out, err = appendText(w.out, m.Key); err != nil {
			return err
		}
		name := string(w.out[start:])
		if slices.Contains(names, name) {
			return errors.New("repeated name")
		}
		names, w.out = append(names, name), append(w.out, ':')
		if err := w.value(m.Value, depth+1); err != nil {
			return err
		}
		w.out = append(w.out, ',')
	}
	w.out = append(bytes.TrimSuffix(w.out, []byte(",")), '}')
	return nil
}

// appendText appends a JSON string anew.
func appendText(dst, raw []byte) ([]byte, error) {
	if raw = pyjson.Trim(raw); bytes.IndexByte(raw, '\\') < 0 {
		return append(dst, raw...), nil
	}
	text := pyjson.AppendText(nil, raw)
	if !utf8.Valid(text) {
		return dst, errors.New("half of a surrogate pair")
	}
	return pyjson.AppendQuoted(dst, string(text), pyjson.Style{}), nil
}

// number returns a double as JavaScript writes it.
func number(f float64) value {
	if size := math.Abs(f); f == 0 || size >= 1e-6 && size < 1e21 {
		return value(strconv.FormatFloat(f+0, 'f', -1, 64))
	}
	return value(strconv.FormatFloat(f, 'e', -1, 64))
}

// quoted returns a text as a value.
func quoted(text string) value { return value(pyjson.Quote(text)) }

// text returns the text of a string, "" for another value.
func (v value) text() string {
	if !v.isText() {
		return ""
	}
	return pyjson.Text([]byte(v))
}

func (v value) isText() bool { return strings.HasPrefix(string(v), `"`) }

func (d document) get(name string) value {
	for _, m := range d {
		if m.name == name {
			return m.value
		}
	}
	return ""
}

// text returns the member name if it is a string, else "".
func (d document) text(name string) string { return d.get(name).text() }

// own returns d without the members that the service adds.
func (d document) own() document {
	return slices.DeleteFunc(slices.Clone(d), func(m member) bool { return slices.Contains(systemMembers, m.name) })
}

var systemMembers = []string{"_rid", "_self", "_etag", "_attachments", "_ts"}

// json returns the text of the document, of which equal ones are equal.
func (d document) json() []byte {
	out := []byte{'{'}
	for i, m := range d {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(pyjson.AppendQuoted(out, m.name, pyjson.Style{}), ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// kind returns the member "type" of a document's label, or its own.
func (d document) kind() string {
	label, err := parseDocument([]byte(d.get("label")))
	if err != nil || label.text("type") == "" {
		return d.text("type")
	}
	return label.text("type")
}
