package hybrid

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// shelf is all documents at one moment.
type shelf struct {
	docs      map[string]map[string]segment.Document // by partition and id
	heads     []held
	histories map[string][]head.History // by sid, without those that are condemned
}

func (r *simReader) shelf() *shelf {
	s := &shelf{docs: map[string]map[string]segment.Document{}, histories: map[string][]head.History{}}
	var condemned []string
	for _, d := range r.held() {
		if s.docs[d.PK] == nil {
			s.docs[d.PK] = map[string]segment.Document{}
		}
		s.docs[d.PK][d.ID] = d.Document
		sid, _, _ := strings.Cut(d.ID, "-")
		switch d.Type {
		case head.TypeHead:
			s.heads = append(s.heads, d)
		case head.TypeGone:
			if g, err := head.DecodeGone(d.ID, d.Body); err == nil {
				condemned = append(condemned, g.Names...)
			}
		case head.TypeHistory:
			if h, err := head.DecodeHistory(d.ID, d.Label, sid); err == nil {
				s.histories[sid] = append(s.histories[sid], h)
			}
		}
	}
	for sid, all := range s.histories {
		s.histories[sid] = slices.DeleteFunc(all, func(h head.History) bool { return slices.Contains(condemned, h.ID) })
	}
	return s
}

// Segment and Chunks make s a [segment.Source].
func (s *shelf) Segment(in segment.Info) (segment.Document, error) { return s.Chunk(in.PK, in.ID) }

func (s *shelf) Chunks(pk string, ids []string) iter.Seq2[segment.Document, error] {
	return func(yield func(segment.Document, error) bool) {
		for _, id := range ids {
			doc, err := s.Chunk(pk, id)
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

func (s *shelf) Chunk(pk, id string) (segment.Document, error) {
	if doc, ok := s.docs[pk][id]; ok {
		return doc, nil
	}
	return segment.Document{}, segment.ErrMissing
}

// infos returns the segments of a stream of a session.
func (s *shelf) infos(sid string, st segment.Stream) (infos []segment.Info, err error) {
	for pk, docs := range s.docs {
		if pk != segment.SessionPK(sid) && !strings.HasPrefix(pk, segment.SessionPK(sid)+"-") {
			continue
		}
		for id, doc := range docs {
			if !strings.HasPrefix(id, segment.SegmentPrefix(sid, st)) {
				continue
			}
			in, err := segment.DecodeInfo(pk, id, doc.Label)
			if err != nil {
				return nil, fmt.Errorf("segment %s: %w", id, err)
			}
			infos = append(infos, in)
		}
	}
	return infos, nil
}

// history returns the transcript of t's session that ends at p.
func (s *shelf) history(t *head.Head, p segment.Point) (text []byte, err error) {
	return s.stream(t, segment.Transcript, p)
}

// stream returns a stream of t's session that ends at p.
func (s *shelf) stream(t *head.Head, st segment.Stream, p segment.Point) (text []byte, err error) {
	infos, err := s.infos(t.SID, st)
	if err != nil {
		return nil, err
	}
	return s.lines(st, infos, p)
}

func (s *shelf) lines(st segment.Stream, infos []segment.Info, p segment.Point) (text []byte, err error) {
	n := int64(0)
	for line, err := range segment.Lines(s, st, infos, segment.Origin(st), p, nil) {
		if err != nil {
			return nil, err
		}
		n++
		text = append(append(text, line...), '\n')
	}
	if n != p.N {
		return nil, fmt.Errorf("stream %s has %d lines, not %d", st, n, p.N)
	}
	return text, nil
}

// add adds the records of a history of t's session.
func (s *shelf) add(marks map[string]bool, t *head.Head, h head.History) error {
	text, err := s.stream(t, h.Stream, h.Extent.Point())
	if err != nil {
		return fmt.Errorf("history of %s that ends at %d: %w", h.Stream, h.Extent.N, err)
	}
	maps.Copy(marks, marksIn(text))
	return nil
}

// of returns the former heads and branches that t names.
func (s *shelf) of(t *head.Head) []head.History {
	return slices.DeleteFunc(slices.Clone(s.histories[t.SID]), func(h head.History) bool { return !t.Histories.Has(h.ID) })
}
