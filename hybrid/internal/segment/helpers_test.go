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
	docs  map[string]Document
	reads int
	fail  error
	drawn int
}

func newShelf() *shelf { return &shelf{docs: map[string]Document{}} }

func (s *shelf) get(pk, id string) (Document, error) {
	s.reads++
	if s.fail != nil {
		return Document{}, s.fail
	}
	d, ok := s.docs[pk+" "+id]
	if !ok {
		return Document{}, ErrMissing
	}
	return d, nil
}

func (s *shelf) Segment(in Info) (Document, error) { return s.get(in.PK, in.ID) }

func (s *shelf) Chunks(pk string, ids []string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, id := range ids {
			d, err := s.get(pk, id)
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// put keeps of a document what a remote does.
func (s *shelf) put(d Document) {
	s.docs[d.PK+" "+d.ID] = Document{ID: d.ID, PK: d.PK, Label: d.Label, Body: d.Body}
}

// infos returns what a list of segments of st would.
func (s *shelf) infos(t testing.TB, st Stream) (out []Info) {
	for _, d := range s.docs {
		if Probe(d.Label, TypeSegment) != nil {
			continue
		}
		in, err := DecodeInfo(d.PK, d.ID, d.Label)
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
		var l header
		require.NoError(t, json.Unmarshal(d.Label, &l))
		require.Equal(t, header{d.Type, Version}, l)
		require.LessOrEqual(t, len(d.Label), labelMax)
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

// payload returns the bytes that segments and chunks hold, compressed.
func (s *shelf) payload(t testing.TB) (n int) {
	for _, d := range s.docs {
		data := d.Body
		if Probe(d.Label, TypeSegment) == nil {
			var err error
			_, data, err = splitRefs(data)
			require.NoError(t, err)
		}
		n += len(data)
	}
	return n
}

func start(s Stream) From { return From{Stream: s, Mark: Begin(s)} }
