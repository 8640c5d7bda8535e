package segment

import (
	"cmp"
	"fmt"
	"slices"
)

// A Span is a segment of which the lines up to Upto are used.
type Span struct {
	Info
	Upto Point
}

// Last returns where the segment begins that holds the last lines of the transcript, which
// ends at tip. Where they are a line of more than 8 MB, it returns tip.
func Last(infos []Info, tip Point) (Point, error) {
	active := make([]*Info, len(infos))
	for i := range infos {
		active[i] = &infos[i]
	}
	switch last := reach(active, 0, tip); {
	case tip.N == 0:
		return tip, nil
	case last == nil:
		return tip, &GapError{Stream: Transcript, From: tip.N - 1, To: tip.N}
	case last.Bytes > heldMax:
		return tip, nil
	default:
		return last.From, nil
	}
}

// Tile finds the segments that lead from one point of a stream to another,
// walking back from the tip. The infos may come in any order and may overlap,
// repeat each other, or belong to other histories. The spans ascend, each
// begins where the one before ends, and the first covers from, though it may
// begin earlier. The error is a [GapError], or [ErrOffside] when from is no
// place on the way to the tip.
func Tile(s Stream, infos []Info, from, tip Point) ([]Span, error) {
	if from == tip {
		return nil, nil
	}
	if from.N >= tip.N {
		return nil, fmt.Errorf("read stream %s: record %d: %w", s, from.N, ErrOffside)
	}
	sorted := make([]*Info, 0, len(infos))
	for i := range infos {
		if in := &infos[i]; in.Stream == s && in.To.N > from.N && in.From.N < tip.N {
			sorted = append(sorted, in)
		}
	}
	slices.SortFunc(sorted, func(a, b *Info) int { return cmp.Compare(b.To.N, a.To.N) })
	var spans []Span
	active := sorted[:0:0]
	for at := tip; at.N > from.N; {
		active = slices.DeleteFunc(active, func(in *Info) bool { return in.From.N >= at.N })
		for len(sorted) > 0 && sorted[0].To.N >= at.N {
			active, sorted = append(active, sorted[0]), sorted[1:]
		}
		best := reach(active, from.N, at)
		if best == nil {
			gap := &GapError{Stream: s, From: from.N, To: at.N}
			if len(sorted) > 0 {
				gap.From = max(gap.From, sorted[0].To.N)
			}
			return nil, gap
		}
		spans = append(spans, Span{*best, at})
		at = best.From
	}
	slices.Reverse(spans)
	if !spans[0].knows(from) {
		return nil, fmt.Errorf("read stream %s: record %d: %w", s, from.N, ErrOffside)
	}
	return spans, nil
}

// Needed returns the record before record n that the first delta of spans was made with,
// if there is such a delta. A reader that has that line needs no segment before spans.
func Needed(spans []Span, n int64) (record int64, ok bool) {
	for i := range spans {
		if base := spans[i].base; base >= 0 && base < n {
			return base, true
		}
	}
	return 0, false
}

// reach returns the segment that holds the line before at and goes furthest back to
// record n: if any segment leads there, this one does. Of several it takes the shortest.
func reach(active []*Info, n int64, at Point) (best *Info) {
	for _, in := range active {
		if in.From.N >= at.N || !in.knows(at) {
			continue
		}
		if best == nil || better(in, best, n) {
			best = in
		}
	}
	return best
}

func better(a, b *Info, n int64) bool {
	if c := cmp.Compare(max(a.From.N, n), max(b.From.N, n)); c != 0 {
		return c < 0
	}
	if a.From.N != b.From.N {
		return a.From.N > b.From.N
	}
	return cmp.Or(cmp.Compare(a.To.N, b.To.N), cmp.Compare(a.base, b.base)) < 0
}

// Common returns the number of records that the history behind spans has in common with
// another, which has n records; hash returns its hash at any of them. Spans must begin at
// a point that both have. It asks for about log2(n) hashes; since only a part of each is
// compared, the caller has to check the answer: lines cut behind it must lead to hashes
// that the others agree with.
func Common(spans []Span, n int64, hash func(record int64) (Hash, error)) (int64, error) {
	if len(spans) == 0 {
		return n, nil
	}
	agrees := func(record int64) (bool, error) {
		i, _ := slices.BinarySearchFunc(spans, record, func(s Span, r int64) int { return cmp.Compare(s.Upto.N, r) })
		h, err := hash(record)
		return err == nil && spans[i].mark(record) == [check]byte(h[:check]), err
	}
	low, high := spans[0].From.N, min(n, spans[len(spans)-1].Upto.N)
	for low < high { // low agrees, above high nothing does
		mid := low + (high-low+1)/2
		same, err := agrees(mid)
		if err != nil {
			return 0, fmt.Errorf("compare histories: %w", err)
		}
		if same {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}
