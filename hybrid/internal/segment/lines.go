package segment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Lines yields the lines of stream s between two points, without their LF, and
// reads the documents it needs from src. A line is yielded after the hashes of
// its segment have been checked, is valid until the next one, and is not to be
// changed. A damaged
// segment is passed by where others hold its lines. The error is the last thing
// yielded: a [GapError], which tells of the damage, [ErrOffside], one that Is [ErrFormat],
// or one of src.
//
// To read on from a point inside of a log, infos may have to reach back to the
// line that the first delta needs; with large, which is that line on this
// device, they need not. It is used when it fits, and may be nil.
//
// Held in memory are the lines of one segment (8 MB, or one longer line) and
// one long line.
func Lines(src Source, s Stream, infos []Info, from, tip Point, large *Large) iter.Seq2[[]byte, error] {
	r := &reader{src: src, st: s, infos: slices.Clone(infos), at: from, tip: tip, chain: newChain(sha256.New)}
	if large != nil {
		r.kept = kept{n: large.N, line: large.Line, lent: true}
	}
	return func(yield func([]byte, error) bool) {
		r := *r // each loop from the beginning
		for r.at != tip {
			lines, err := r.next()
			if err != nil {
				yield(nil, err)
				return
			}
			for _, line := range lines {
				if !yield(line, nil) {
					return
				}
			}
		}
	}
}

// next returns the lines of the next segment. After damage it looks for
// another way.
func (r *reader) next() ([][]byte, error) {
	for {
		if len(r.spans) == 0 {
			spans, err := Tile(r.st, r.infos, r.at, r.tip)
			if gap := (*GapError)(nil); errors.As(err, &gap) {
				gap.Damage = r.damage
			}
			if err != nil {
				return nil, err
			}
			r.spans = spans
		}
		span := r.spans[0]
		lines, err := r.read(&span)
		if err == nil {
			r.spans = r.spans[1:]
			return lines, nil
		}
		if !errors.Is(err, ErrDamaged) {
			return nil, fmt.Errorf("read segment %s: %w", span.ID, err)
		}
		if r.kept.lent {
			r.kept = kept{}
			continue
		}
		if !errors.As(err, &r.damage) || !r.has(r.damage.ID) {
			r.damage = r.damaged(&span.Info, err)
		}
		r.infos = slices.DeleteFunc(slices.Clone(r.infos), func(in Info) bool { return in.ID == r.damage.ID })
		r.spans = nil
	}
}

// read returns the lines of a span behind those that were read before.
func (r *reader) read(span *Span) ([][]byte, error) {
	s, err := load(r.src, &span.Info)
	if err != nil {
		return nil, err
	}
	p, k, skipped := span.From, r.kept, 0
	lines := make([][]byte, 0, len(s.rows))
	for i := range s.rows[:span.Upto.N-span.From.N] {
		if p.N == r.at.N && p != r.at {
			return nil, fmt.Errorf("%w: another history", ErrDamaged)
		}
		line, err := r.line(s, i, k)
		if err != nil {
			return nil, err
		}
		if ref := s.rows[i].ref; ref != nil && ref.As != "" {
			k = kept{n: p.N, line: line, part: ref.Chunks == nil && ref.As == asKey}
		}
		if p.N < r.at.N {
			skipped++
		}
		p = r.chain.add(p, line)
		lines = append(lines, line)
	}
	if p != span.Upto {
		return nil, fmt.Errorf("%w: lines and hash differ", ErrDamaged)
	}
	r.at = p
	if k.n != r.kept.n || r.kept.line == nil {
		r.kept = kept{n: k.n, line: k.line}
		if k.part {
			r.kept.line = slices.Clone(k.line)
		}
	}
	return lines[skipped:], nil
}

// line returns the line of a row. A delta is applied to the line k when that
// is the one it was made with, and otherwise to one that is read for it.
func (r *reader) line(s *Segment, i int, k kept) ([]byte, error) {
	row := &s.rows[i]
	data, err := stored(r.src, s, row)
	if err != nil || row.ref == nil || row.ref.As != asDelta {
		return data, err
	}
	if k.line == nil || k.n != *row.ref.Base {
		if k.line, err = r.record(s, *row.ref.Base); err != nil {
			return nil, err
		}
	}
	return apply(k.line, data, row.ref)
}
