package track

import (
	"bytes"
	"context"
	"iter"
)

// Compare follows the lines of h as long as they are those that were sent.
func (h *Chain) Compare(ctx context.Context, lines iter.Seq2[[]byte, error]) (*Compared, error) {
	sent := &Compared{Chain: &Chain{Source: h.Source}}
	next, stop := iter.Pull2(h.RawLines(ctx, h.Start))
	defer stop()
	for theirs, err := range lines {
		if err != nil {
			return nil, err
		}
		line, err, ok := next()
		if err != nil {
			return nil, Gone(err)
		}
		if !ok || !sent.alike(theirs, line) && !isFormOf(theirs, line) {
			break
		}
		sent.Add(sent.N, line, func(int64, []byte) ([]byte, bool) { return theirs, true })
		sent.N++
	}
	return sent, nil
}

// Todays returns the forms of the first lines of h, which were sent, that today's rules
// give to those in which they were.
func (h *Chain) Todays(ctx context.Context, n int64) (*Compared, error) {
	sent := &Compared{Chain: &Chain{Source: h.Source}}
	for line, err := range h.RawLines(ctx, h.Start) {
		if err != nil || sent.N >= n {
			return sent, Gone(err)
		}
		sent.Add(sent.N, line, func(int64, []byte) ([]byte, bool) { return h.Today(h.Leaving(sent.N, line)), true })
		sent.N++
	}
	return sent, nil
}

// In returns h again, with lines in other forms.
func (h *Chain) In(ctx context.Context, sent *Compared) (*Chain, error) {
	next, err := h.Scan(ctx, sent.FormsOf(), false)
	if err == nil && !next.File.SameContent(h.File) {
		err = ErrMoved
	}
	return next, Gone(err)
}

// Compared is how many lines here are those of a history in the cloud, with their forms.
type Compared struct {
	*Chain
	N int64
}

// alike reports whether the rules of today make the same of a line here as of one that
// was sent.
func (s *Source) alike(sent, line []byte) bool {
	image := s.Today(line)
	return bytes.Equal(sent, image) || bytes.Equal(s.Today(sent), image)
}

// marker is how the text begins that stands in the place of what was taken out;
// see package redact.
var marker = []byte("[redacted:")

// longestKind is how long the rest of a marker may be.
const longestKind = 64

// isFormOf reports whether sent can be what rules made of a line: the same bytes,
// with markers in the place of some.
func isFormOf(sent, line []byte) bool {
	first := true
	for {
		at := bytes.Index(sent, marker)
		if at < 0 {
			if first {
				return bytes.Equal(sent, line)
			}
			return bytes.HasSuffix(line, sent)
		}
		piece := sent[:at]
		end := bytes.IndexByte(sent[at:min(len(sent), at+len(marker)+longestKind)], ']')
		if end < 0 {
			return false
		}
		found := bytes.Index(line, piece)
		if found < 0 || first && found != 0 {
			return false
		}
		line, sent, first = line[found+len(piece):], sent[at+end+1:], false
	}
}
