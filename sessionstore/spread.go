package sessionstore

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// spread runs worker on all processors; next hands out the numbers below n.
func spread(n int, worker func(next func() (int, bool))) {
	var (
		taken atomic.Int64
		group sync.WaitGroup
	)
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		group.Go(func() { worker(next) })
	}
	worker(next)
	group.Wait()
}

// maxAhead is the number of items of a list that are worked on before the first of them
// is returned.
const maxAhead = 256

// portions divides n items into portions that are worked on together: one, two, four and
// so on, so that a caller that wants the first does not wait for many. A portion is no
// larger than the result of most at that time. There are no more portions once that is 0.
func portions(n int, most func() int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, size := 0, 1; from < n; size = min(2*size, maxAhead) {
			to := min(n, from+min(size, most()))
			if to <= from {
				return
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}
