package sessionstore

import (
	queue "container/heap"
	"iter"
)

// summaryOrder puts rows of a listing in the order of Changed. They come in the order of
// their directories, which is the same but for imported sessions: those changed earlier
// than their directories.
type summaryOrder[T any] struct {
	rows summaryHeap[T]
	seen int
}

// orderedRow is a row that waits.
type orderedRow[T any] struct {
	at     float64
	number int // of rows of one time, the one that came first is first
	row    T
}

// add takes a row of a session.
func (o *summaryOrder[T]) add(row T, s *Summary) {
	queue.Push(&o.rows, orderedRow[T]{seconds(s.Changed), o.seen, row})
	o.seen++
}

// until yields the rows that come ahead of all rows of directories which changed at a
// time, in seconds, or before.
func (o *summaryOrder[T]) until(at float64) iter.Seq[T] {
	return func(yield func(T) bool) {
		for len(o.rows) > 0 && o.rows[0].at >= at {
			if !yield(queue.Pop(&o.rows).(orderedRow[T]).row) {
				return
			}
		}
	}
}

// summaryHeap is a [queue.Interface] with the row that changed last at the top.
type summaryHeap[T any] []orderedRow[T]

func (h summaryHeap[T]) Len() int { return len(h) }

func (h summaryHeap[T]) Less(i, j int) bool {
	return h[i].at > h[j].at || h[i].at == h[j].at && h[i].number < h[j].number
}

func (h summaryHeap[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is that of [queue.Interface].
func (h *summaryHeap[T]) Push(x any) { *h = append(*h, x.(orderedRow[T])) }

// Pop is that of [queue.Interface].
func (h *summaryHeap[T]) Pop() any {
	last := len(*h) - 1
	row := (*h)[last]
	*h = (*h)[:last]
	return row
}
