package segment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
)

// A Source reads documents. An error of it ends the reading and is returned;
// [ErrMissing] says that there is no such document, which is damage.
type Source interface {
	Segment(in Info) (Document, error)
	// Chunks yields the documents ids of a partition in their order; an error
	// is the last thing it yields.
	Chunks(pk string, ids []string) iter.Seq2[Document, error]
}

// ErrMissing is what a [Source] returns for a document that is not there.
var ErrMissing = fmt.Errorf("%w: no such document", ErrDamaged)

// load reads the segment of in.
func load(src Source, in *Info) (*Segment, error) {
	d, err := src.Segment(*in)
	if err != nil {
		return nil, err
	}
	s, err := DecodeSegment(d)
	if err != nil {
		return nil, hurt(err)
	}
	if s.ID != in.ID || s.From != in.From || s.To != in.To {
		return nil, fmt.Errorf("%w: another segment than its projection", ErrDamaged)
	}
	return s, nil
}

// hurt makes damage of a foreign document in the place of one of ours.
func hurt(err error) error {
	if errors.Is(err, ErrForeign) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// stored returns what a row holds: a line or a delta.
func stored(src Source, s *Segment, r *row) ([]byte, error) {
	if r.ref == nil || r.ref.Chunks == nil {
		if r.ref != nil && int64(len(r.data)) != r.ref.size() {
			return nil, errRows
		}
		return r.data, nil
	}
	ids := make([]string, len(r.ref.Chunks))
	for i, name := range r.ref.Chunks {
		ids[i] = ChunkID(s.SID(), name)
	}
	var data []byte
	i := 0
	for d, err := range src.Chunks(s.PK, ids) {
		id := ids[i]
		if err != nil {
			return nil, fmt.Errorf("chunk %s: %w", id, err)
		}
		part, err := DecodeChunk(d)
		if err != nil {
			return nil, fmt.Errorf("chunk %s: %w", id, hurt(err))
		}
		if i == 0 { // all but the last are as long
			data = make([]byte, 0, min(r.ref.size(), int64(len(part))*int64(len(ids))))
		}
		i++
		if data = append(data, part...); int64(len(data)) > r.ref.size() {
			break
		}
	}
	if int64(len(data)) != r.ref.size() || sha256.Sum256(data) != *r.ref.Sum {
		return nil, fmt.Errorf("%w: chunks do not make what they should", ErrDamaged)
	}
	return data, nil
}
