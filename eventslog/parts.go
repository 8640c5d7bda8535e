package eventslog

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Parts that are read at the same time. Each worker holds one block.
const (
	maxWorkers   = 8
	minPart      = 1 << 20
	maxPart      = 16 << 20
	partsPerCore = 8 // so that no worker is idle for long at the end
)

// A part is the lines that begin in a range of the file, the first of which
// may reach far behind it.
type part struct {
	of       *parting
	number   int
	from, to int64
}

// A parting cuts a log into parts and deals them out in their order.
type parting struct {
	size    int64 // of a part
	count   int
	workers int
	dealt   atomic.Int64
}

// newParting cuts size bytes, which may grow meanwhile, for so many workers.
func newParting(size int64, workers int) *parting {
	p := &parting{workers: min(runtime.GOMAXPROCS(0), workers)}
	return p.cut(size, min(max(size/int64(p.workers*partsPerCore), minPart), maxPart))
}

func (p *parting) cut(size, part int64) *parting {
	p.size, p.count = part, int(size/part)+1
	p.workers = min(p.workers, p.count)
	return p
}

// next returns a part that nobody has, and false when there is none left. The
// last has all that follows, also what was written meanwhile.
func (p *parting) next() (part, bool) {
	n := p.dealt.Add(1) - 1
	if n >= int64(p.count) {
		return part{}, false
	}
	return part{of: p, number: int(n), from: n * p.size, to: p.end(n)}, true
}

// end returns where part n ends.
func (p *parting) end(n int64) int64 {
	if n >= int64(p.count)-1 {
		return math.MaxInt64
	}
	return (n + 1) * p.size
}

// extend adds the part that follows if nobody has it.
func (p *part) extend() bool {
	if p.to == math.MaxInt64 {
		return false
	}
	n := p.to / p.of.size
	if !p.of.dealt.CompareAndSwap(n, n+1) {
		return false
	}
	p.to = p.of.end(n)
	return true
}

// pass takes the following parts that end before the offset: no line begins
// in them.
func (p *part) pass(offset int64) {
	for offset > p.to && offset-p.to >= p.of.size && p.extend() {
	}
}

// run lets every worker do its share and returns when all are done. The first
// error ends the others.
func (p *parting) run(ctx context.Context, work func(ctx context.Context, worker int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for n := range p.workers {
		wg.Go(func() {
			if err := work(ctx, n); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// each calls line for every line of the part that is an event; rs then holds
// it.
func (l *Log) each(ctx context.Context, rs *records, src io.ReaderAt, p part, line func(record) error) error {
	if found, err := rs.beginPart(ctx, src, &p); !found {
		return err
	}
	for ; rs.offset() < p.to; p.pass(rs.offset()) {
		rec, err := rs.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !l.event(&rs.scan) {
			if rs.scan.state != beforeObject { // it is not blank
				rs.skipped++
			}
			continue
		}
		if err := line(rec); err != nil {
			return err
		}
	}
	return nil
}

// beginPart goes to the first line of the part, and reports whether there is
// one. The line that reaches into the part belongs to an earlier one; where it
// reaches farther the part grows, if it can.
func (rs *records) beginPart(ctx context.Context, src io.ReaderAt, p *part) (bool, error) {
	if err := rs.begin(src, Cursor{Offset: max(0, p.from-1), Line: -1}); err != nil || p.from == 0 {
		return err == nil, err
	}
	for rs.offset() < p.to || p.extend() {
		if n := rs.lineEnd(); n >= 0 {
			rs.r += n + 1
			for rs.offset() >= p.to && p.extend() {
			}
			return rs.offset() < p.to, nil
		}
		rs.r = rs.w
		if more, err := rs.fill(ctx); !more {
			return false, err
		}
	}
	return false, nil
}
