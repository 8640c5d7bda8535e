package sessionstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// Metadata is metadata.json: an ordered JSON object whose unknown members and
// order survive. It is a value: a copy does not see what Set and Delete do to
// the original. The zero Metadata has no members, and means that none was
// given.
type Metadata struct {
	members []member // nil where text has them
	text    []byte   // an object; never changed
}

type member struct {
	name  string // decoded
	key   []byte // as JSON
	value []byte // as JSON; never changed
}

// checkMetadata returns the object in b, or an error if b is no JSON object.
func checkMetadata(b []byte) (obj []byte, err error) {
	obj = pyjson.Trim(b)
	err = pyjson.Check(b, pyjson.Tolerant)
	if err == nil && pyjson.KindOf(obj) != pyjson.Object {
		err = errNotObject
	}
	if err != nil {
		offset := int64(0)
		if at := (*pyjson.Error)(nil); errors.As(err, &at) {
			offset = int64(at.Offset)
		}
		return nil, &CorruptError{Path: "metadata", Offset: offset, Err: err}
	}
	return obj, nil
}

var errNotObject = errors.New("not a JSON object")

// shortText is the greatest length of a text in which looking for one member is faster
// than parsing all members.
const shortText = 4 << 10

// metadataIn is ParseMetadata without a copy: b must not be changed afterwards. The
// members of a short text are parsed on demand: a list of many sessions needs few
// members.
func metadataIn(b []byte) (Metadata, error) {
	obj, err := checkMetadata(b)
	if err != nil || len(obj) <= shortText {
		return Metadata{text: obj}, err
	}
	return membersOf(obj), nil
}

func membersOf(obj []byte) Metadata {
	const few = 32                                 // of these, comparing all is faster than a map
	md := Metadata{members: make([]member, 0, 16)} // not the zero Metadata, even if it stays empty
	var at map[string]int
	var buf [64]byte
	for m := range pyjson.Members(obj) {
		name := string(pyjson.AppendText(buf[:0], m.Key))
		i, ok := at[name]
		if at == nil {
			i = md.index(name)
			ok = i >= 0
		}
		if ok {
			md.members[i].value = m.Value
			continue
		}
		md.members = append(md.members, member{name, m.Key, m.Value})
		switch n := len(md.members); {
		case at != nil:
			at[name] = n - 1
		case n > few:
			at = make(map[string]int, 2*n)
			for i, m := range md.members {
				at[m.name] = i
			}
		}
	}
	return md
}

// isZero reports whether md is the zero Metadata.
func (md Metadata) isZero() bool { return md.members == nil && md.text == nil }

// all returns the members, which must not be changed.
func (md Metadata) all() []member {
	if md.text != nil {
		return membersOf(md.text).members
	}
	return md.members
}

func (md Metadata) index(name string) int {
	return slices.IndexFunc(md.members, func(m member) bool { return m.name == name })
}

func (md Metadata) lookup(name string) ([]byte, bool) {
	if md.text != nil {
		return pyjson.Lookup(md.text, name)
	}
	i := md.index(name)
	if i < 0 {
		return nil, false
	}
	return md.members[i].value, true
}

// Lookup returns a copy of the raw JSON of the member name.
func (md Metadata) Lookup(name string) ([]byte, bool) {
	raw, ok := md.lookup(name)
	return bytes.Clone(raw), ok
}

// Text returns the member name where it is a string, else "".
func (md Metadata) Text(name string) string {
	raw, ok := md.lookup(name)
	if !ok || pyjson.KindOf(raw) != pyjson.String {
		return ""
	}
	return pyjson.Text(raw)
}

// Int returns the member name where it is an integer that an int holds.
func (md Metadata) Int(name string) (int, bool) {
	raw, ok := md.lookup(name)
	if !ok || pyjson.KindOf(raw) != pyjson.Integer {
		return 0, false
	}
	n, ok := pyjson.Int(raw)
	return int(n), ok && int64(int(n)) == n
}

// Bundle returns the bundle's name without its prefix "bundle:", and false
// when there is none: it is missing, empty, "unknown", or not a string.
func (md Metadata) Bundle() (string, bool) {
	name := md.Text("bundle")
	if name == "" || name == "unknown" {
		return "", false
	}
	return strings.TrimPrefix(name, "bundle:"), true
}

// Keys yields the names of the members in order.
func (md Metadata) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, m := range md.all() {
			if !yield(strings.ToValidUTF8(m.name, "\uFFFD")) {
				return
			}
		}
	}
}

// object returns the members as one JSON object.
func (md Metadata) object() []byte {
	obj := []byte{'{'}
	for i, m := range md.all() {
		if i > 0 {
			obj = append(obj, ',')
		}
		obj = append(append(append(obj, m.key...), ':'), m.value...)
	}
	return append(obj, '}')
}

// ParseMetadata reads the content of a metadata.json in Python's dialect. It
// must be one object; of several members of one name the last counts, in the
// place of the first. The error is a [*CorruptError].
func ParseMetadata(b []byte) (Metadata, error) {
	obj, err := checkMetadata(b)
	if err != nil {
		return Metadata{}, err
	}
	return membersOf(bytes.Clone(obj)), nil
}

// AppendTo appends the object as metadata.json holds it: indented by two, in order,
// without a line break at the end. Secrets are not redacted here, but when a store writes
// the object.
func (md Metadata) AppendTo(dst []byte) []byte {
	out, err := pyjson.Append(dst, md.object(), pyjson.Style{Indent: 2, KeepBig: true})
	if err != nil { // unreachable: members are checked when they come in
		return dst
	}
	return out
}

// MarshalJSON returns the object for encoding/json. It fails on values that encoding/json
// does not know, such as NaN.
func (md Metadata) MarshalJSON() ([]byte, error) {
	obj := md.object()
	if !json.Valid(obj) {
		return nil, errors.New("metadata holds what JSON cannot: NaN or an infinity")
	}
	return obj, nil
}

// UnmarshalJSON reads an object as [ParseMetadata] does.
func (md *Metadata) UnmarshalJSON(b []byte) error {
	parsed, err := ParseMetadata(b)
	if err != nil {
		return fmt.Errorf("parse metadata: %w", err)
	}
	*md = parsed
	return nil
}

// file returns the bytes of metadata.json, secrets redacted.
func (md Metadata) file(portable bool) ([]byte, error) {
	return pyjson.Append(nil, md.object(), pyjson.Style{Indent: 2, Redact: true, Portable: portable, KeepBig: true})
}

// Revision identifies the content of a transcript. Two equal revisions are
// the same bytes.
type Revision struct {
	Messages int
	Bytes    int64
	Sum      [16]byte // XXH3-128 of the bytes
}

func revisionOf(rows int, data []byte) Revision {
	return Revision{Messages: rows, Bytes: int64(len(data)), Sum: xxh3.Hash128(data).Bytes()}
}

// Created returns the time when the session was created: the member created, as
// projects.Find reads it. A time without an offset is in UTC. It returns false where the
// member is missing, no string or not a time in ISO 8601.
func (md Metadata) Created() (time.Time, bool) { return pytime.ParseCreated(md.Text("created")) }

// NewMetadata encodes v by the rules of [Metadata.Set]. v is a value that encoding/json
// can encode as an object, or a json.RawMessage in Python's dialect.
func NewMetadata(v any) (Metadata, error) {
	raw, err := encode(v)
	if err != nil {
		return Metadata{}, unstorable("new metadata", err)
	}
	if pyjson.KindOf(raw) != pyjson.Object {
		return Metadata{}, unstorable("new metadata", errNotObject)
	}
	return membersOf(raw), nil
}

// mustMetadata is for values that this package makes and knows to be storable.
func mustMetadata(md Metadata, err error) Metadata {
	if err != nil {
		panic(err) // unreachable: the value holds strings, booleans and numbers
	}
	return md
}

// encode returns v as JSON that every tool can read.
func encode(v any) ([]byte, error) {
	raw, err := pyjson.Encode(v)
	if err != nil {
		return nil, err
	}
	return pyjson.Append(nil, pyjson.Trim(raw), writeStyle())
}

// Set gives the member name the value v, encoded as in [NewMetadata]; a new name goes to
// the end. Nulls are kept. The error Is [ErrUnstorable] when v holds a value that the
// Python tools could not read back.
func (md *Metadata) Set(name string, v any) error {
	value, err := encode(v)
	if err != nil {
		return unstorable("set member of metadata", err)
	}
	md.set(member{name, pyjson.AppendQuoted(nil, name, writeStyle()), value})
	return nil
}

func (md *Metadata) set(m member) {
	*md = Metadata{members: slices.Clone(md.all())}
	if i := md.index(m.name); i >= 0 {
		md.members[i].value = m.value
		return
	}
	md.members = append(md.members, m)
}

// Delete removes the member name.
func (md *Metadata) Delete(name string) {
	rest := Metadata{members: slices.Clone(md.all())}
	if i := rest.index(name); i >= 0 {
		rest.members = slices.Delete(rest.members, i, i+1)
		*md = rest
	}
}
