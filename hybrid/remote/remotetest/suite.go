package remotetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// suite is one test of a remote.
type suite struct {
	*testing.T
	r remote.Remote
}

const part = "p-0123456789abcdef"

// object returns an object with a text.
func object(name, text string) remote.Object {
	return remote.Object{Name: name, Label: []byte(`{"type":"x","v":1}`), Body: []byte(text)}
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) is(err, want error, format string, args ...any) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf(format+": error %v, want %v", append(args, err, want)...)
	}
}

func (s *suite) same(got, want any, format string, args ...any) {
	s.Helper()
	if !reflect.DeepEqual(got, want) {
		s.Fatalf(format+": got %.200v, want %.200v", append(args, got, want)...)
	}
}

// commit stores objects, and swaps one in.
func (s *suite) commit(swap *remote.Swap, objects ...remote.Object) remote.Version {
	s.Helper()
	v, err := s.r.Commit(s.Context(), part, objects, swap)
	s.ok(err)
	if (v == "") != (swap == nil) {
		s.Fatalf("Commit returns version %q", v)
	}
	return v
}

// fill stores objects, as many at once as the remote does whole.
func (s *suite) fill(names ...string) {
	s.Helper()
	info, err := s.r.Info(s.Context())
	s.ok(err)
	for len(names) > 0 {
		n := min(len(names), max(1, info.Batch.Objects))
		var objects []remote.Object
		for _, name := range names[:n] {
			objects = append(objects, object(name, name))
		}
		s.commit(nil, objects...)
		names = names[n:]
	}
}

// get reads an object that is there.
func (s *suite) get(name string) remote.Object {
	s.Helper()
	o, err := s.r.Get(s.Context(), part, name, "")
	s.ok(err)
	s.same(o.Name, name, "name")
	return o
}

// gone requires an object not to be there.
func (s *suite) gone(names ...string) {
	s.Helper()
	for _, name := range names {
		_, err := s.r.Get(s.Context(), part, name, "")
		s.is(err, remote.ErrNotExist, "Get of %s", name)
	}
}

// list returns the names that a list has.
func (s *suite) list(q remote.Query) (names []string) {
	s.Helper()
	for o, err := range s.r.List(s.Context(), part, q) {
		s.ok(err)
		if o.Body != nil {
			s.Fatalf("%s has a body in a list", o.Name)
		}
		names = append(names, o.Name)
	}
	return names
}

// sameJSON requires two labels to have the same members.
func (s *suite) sameJSON(got, want []byte) {
	s.Helper()
	values := [2]any{}
	for i, text := range [][]byte{got, want} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values[i]); err != nil {
			s.Fatalf("label %.200q: %v", text, err)
		}
	}
	s.same(values[0], values[1], "label")
}
