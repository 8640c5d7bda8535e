package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// known reports whether an error is one that callers can tell.
func known(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrFormat) || errors.Is(err, ErrGap) || errors.Is(err, ErrOffside)
}

// FuzzDecode: what is accepted as a document has consistent numbers, and
// reading it ends in its lines or in an error that can be told.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(f, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		for doc := range bytes.Lines(data) {
			var d golden
			require.NoError(f, json.Unmarshal(doc, &d))
			f.Add(d.ID, []byte(d.Label), d.Body)
		}
	}
	f.Fuzz(func(t *testing.T, id string, label, body []byte) {
		d := Document{ID: id, PK: SessionPK(testSID), Label: label, Body: body}
		if s, err := DecodeSegment(d); err == nil {
			readOne(t, s, d)
		} else {
			require.True(t, known(err), "%v", err)
		}
		if _, err := DecodeInfo(d.PK, d.ID, label); err != nil {
			require.True(t, known(err), "%v", err)
		}
		if _, err := DecodeChunk(d); err != nil {
			require.True(t, known(err), "%v", err)
		}
	})
}

// readOne reads the lines of a document that was accepted, and encodes them.
func readOne(t *testing.T, s *Segment, doc Document) {
	require.EqualValues(t, len(s.rows), s.To.N-s.From.N)
	sh := newShelf()
	sh.put(doc)
	p := s.From
	lines, err := collect(Lines(sh, s.Stream, []Info{s.Info}, s.From, s.To, nil))
	if err != nil {
		require.True(t, known(err), "%v", err)
		return
	}
	for _, line := range lines {
		p = p.Add(line)
	}
	require.Equal(t, s.To, p)
	d, err := s.Document()
	require.NoError(t, err)
	again, err := DecodeSegment(d)
	require.NoError(t, err)
	require.Equal(t, len(s.rows), len(again.rows))
}

// FuzzLines: any bytes, cut anywhere, come back, from a log and from a transcript.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff\x00\n\n"), []byte{3, 1, 7}, true)
	f.Add(bytes.Repeat([]byte("long lines that repeat "), 1000), []byte{200, 1}, false)
	f.Fuzz(func(t *testing.T, data, cuts []byte, transcript bool) {
		if len(data) > 1<<20 {
			return
		}
		lines := bytes.Split(data, []byte("\n"))
		for i, c := range cuts { // long lines that resemble others
			at := int(c) % len(lines)
			if i < 8 && len(lines[at]) > 0 {
				lines = append(lines, slices.Concat(lines[at], bytes.Repeat(lines[at], 10000/len(lines[at])+1)))
			}
		}
		st := testLog
		if transcript {
			st = Transcript
		}
		s, from := newShelf(), start(st)
		for i := 0; i < len(lines); {
			n := len(lines) - i
			if len(cuts) > 0 {
				n, cuts = min(n, 1+int(cuts[0])), cuts[1:]
			}
			from = s.store(t, Options{}, from, lines[i:i+n])
			i += n
		}
		got, err := collect(Lines(s, st, s.infos(t, st), Origin(st), from.Mark.Point(), nil))
		require.NoError(t, err)
		require.True(t, slices.EqualFunc(lines, got, bytes.Equal))
	})
}
