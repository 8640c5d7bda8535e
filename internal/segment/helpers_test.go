package segment

import (
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	testSID   = "abcdefghijklmnopqrstuvwxyz234567"
	testNonce = "0123456789abcdef"
)

// each yields lines without errors.
func each(lines [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		buf := []byte(nil)
		for _, l := range lines {
			buf = append(buf[:0], l...) // a reader's buffer is used again and again
			if !yield(buf, nil) {
				return
			}
		}
	}
}

// collect copies lines up to an error.
func collect(lines iter.Seq2[[]byte, error]) (out [][]byte, err error) {
	for l, err := range lines {
		if err != nil {
			return out, err
		}
		out = append(out, append([]byte{}, l...))
	}
	return out, nil
}

// shelf is a Source in memory.
type shelf struct {
	docs  map[string][]byte
	reads int
	fail  error
	drawn int
}

func newShelf() *shelf { return &shelf{docs: map[string][]byte{}} }

func (s *shelf) get(pk, id string) ([]byte, error) {
	s.reads++
	if s.fail != nil {
		return nil, s.fail
	}
	body, ok := s.docs[pk+" "+id]
	if !ok {
		return nil, ErrMissing
	}
	return body, nil
}

func (s *shelf) Segment(in Info) ([]byte, error) { return s.get(in.PK, in.ID) }

func (s *shelf) Chunks(pk string, ids []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, id := range ids {
			body, err := s.get(pk, id)
			if !yield(body, err) || err != nil {
				return
			}
		}
	}
}

func (s *shelf) put(d Document) { s.docs[d.PK+" "+d.ID] = d.Body }

// infos returns what a query for segments of st would.
func (s *shelf) infos(t testing.TB, st Stream) (out []Info) {
	for _, body := range s.docs {
		if Probe(body, TypeSegment) != nil {
			continue
		}
		in, err := DecodeInfo(body)
		require.NoError(t, err)
		if in.Stream == st {
			out = append(out, in)
		}
	}
	return out
}

// store cuts lines, stores the documents, and returns the place behind.
func (s *shelf) store(t testing.TB, o Options, from From, lines [][]byte) From {
	o.SID, o.Draw = testSID, s.draw
	c := NewCutter(o, from)
	have := map[string]bool{}
	for d, err := range c.Documents(each(lines)) {
		require.NoError(t, err)
		var names struct{ ID, PK, Type string }
		require.NoError(t, json.Unmarshal(d.Body, &names))
		require.Equal(t, [3]string{d.ID, d.PK, d.Type}, [3]string{names.ID, names.PK, names.Type})
		have[d.ID] = true
		s.put(d)
	}
	return c.At()
}

// draw draws the same nonces for each shelf.
func (s *shelf) draw() string {
	s.drawn++
	return fmt.Sprintf("%016x", s.drawn)
}

// payload returns the bytes that segments and chunks hold, before base64.
func (s *shelf) payload(t testing.TB) (n int) {
	for _, body := range s.docs {
		var d struct{ Data []byte }
		require.NoError(t, json.Unmarshal(body, &d))
		n += len(d.Data)
	}
	return n
}

func start(s Stream) From { return From{Stream: s, Mark: Begin(s)} }
