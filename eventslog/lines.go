package eventslog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

const (
	blockSize  = 256 << 10
	windowSize = 4 << 10                // the bytes that a cursor knows
	manyBlocks = 8 << 20                // of longer lines the end is looked for before the buffer grows
	longest    = min(1<<30, limits.Max) // the size of the longest line that is read
)

// line is a line of a log, whatever it holds.
type line struct {
	text   []byte // without its end; valid until the next line is read
	offset int64
	size   int64 // without its end
	number int   // from 1; 0: not known
	ended  bool  // its end is there
	long   bool  // it is too long to be read, so text is empty
}

// lines reads the lines of a log one by one, and holds one of them.
type lines struct {
	newer   bool // the dialect: LF alone ends a line
	longest int64

	ctx  context.Context
	file io.ReaderAt
	now  []byte // the file's bytes before what is read, when they are compared; nil: they are not

	buf      []byte // a part of the file, from base on
	base     int64
	r, to, w int // buf[:r] ends with the window of a cursor, buf[r:w] is unread, buf[r:to] is its part up to the first LF
	number   int // LFs before buf[r]; negative: not known
}

// begin goes to the cursor in file. If the file ends before that, it goes elsewhere.
func (ls *lines) begin(ctx context.Context, file io.ReaderAt, from Cursor) error {
	if ls.buf == nil {
		ls.buf = make([]byte, blockSize)
	}
	at := max(0, from.Offset)
	size := min(at, windowSize)
	n, err := file.ReadAt(ls.buf[:size], at-size)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	ls.ctx, ls.file, ls.now = ctx, file, nil
	ls.base, ls.r, ls.to, ls.w, ls.number = at-size, n, n, n, from.Line
	return nil
}

// check goes to the cursor in file, and from then on compares the bytes before with the
// file whenever it reads on: the error is ErrRewritten where they changed, and where the
// file is not the one of the cursor.
func (ls *lines) check(ctx context.Context, file io.ReaderAt, from Cursor) error {
	if err := ls.begin(ctx, file, from); err != nil {
		return err
	}
	if now := ls.cursor(); now.Offset != from.Offset || now.Sum != from.Sum {
		return ErrRewritten
	}
	ls.now = make([]byte, windowSize)
	return nil
}

// at returns where the next line begins.
func (ls *lines) at() int64 { return ls.base + int64(ls.r) }

// cursor returns the place behind the last line.
func (ls *lines) cursor() Cursor {
	c := Cursor{Offset: ls.at(), Line: ls.number}
	if last := lastOf(ls.buf[:ls.r]); len(last) > 0 {
		c.Sum = xxh3.Hash128(last).Bytes()
	}
	return c
}

// all yields the lines that follow. An error comes last.
func (ls *lines) all() iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for {
			ln, err := ls.next()
			if errors.Is(err, io.EOF) || !yield(ln, err) || err != nil {
				return
			}
		}
	}
}

// next returns the next line. The error is io.EOF behind the last.
func (ls *lines) next() (line, error) {
	ln := line{offset: ls.at(), number: max(0, ls.number+1)}
	for seen := 0; ; {
		if end := ls.lineEnd(ls.r + seen); end >= 0 {
			ln.ended = true
			ls.take(&ln, end)
			if ls.buf[end] == '\n' && ls.number >= 0 {
				ls.number++
			}
			ls.r++
			return ln, nil
		}
		seen = ls.to - ls.r
		if ls.to == ls.w {
			err := ls.fill(&ln)
			seen = ls.to - ls.r
			if errors.Is(err, io.EOF) && ln.size+int64(seen) > 0 {
				ls.take(&ln, ls.w)
				return ln, nil
			}
			if err != nil {
				return line{}, err
			}
		}
		if n := bytes.IndexByte(ls.buf[ls.to:ls.w], '\n'); n >= 0 {
			ls.to += n + 1
		} else {
			ls.to = ls.w
		}
	}
}

// lineEnd returns where from i on the line ends, or -1.
func (ls *lines) lineEnd(i int) int {
	if !ls.newer {
		if n := bytes.IndexByte(ls.buf[i:ls.to], '\r'); n >= 0 {
			return i + n
		}
	}
	if ls.to > i && ls.buf[ls.to-1] == '\n' {
		return ls.to - 1
	}
	return -1
}

// take makes the buffer's bytes before end the rest of the line.
func (ls *lines) take(ln *line, end int) {
	ln.size += int64(end - ls.r)
	if ln.long = ln.long || ln.size > ls.longest; !ln.long {
		ln.text = ls.buf[ls.r:end]
	}
	ls.r = end
}

// fill reads the next block behind the part of the line that is in the buffer. It drops that
// part of a line that is too long.
func (ls *lines) fill(ln *line) error {
	if err := ls.ctx.Err(); err != nil {
		return err
	}
	if ls.w == len(ls.buf) && ls.r <= windowSize {
		ls.grow(ln)
	}
	if old := ls.r - windowSize; old > 0 {
		copy(ls.buf, ls.buf[old:ls.w])
		ls.base += int64(old)
		ls.r, ls.to, ls.w = ls.r-old, ls.to-old, ls.w-old
	}
	n, err := ls.file.ReadAt(ls.buf[ls.w:min(len(ls.buf), ls.w+blockSize)], ls.base+int64(ls.w))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case n == 0:
		return io.EOF
	}
	if err := ls.compare(); err != nil {
		return err
	}
	ls.w += n
	return nil
}

// compare returns ErrRewritten when the bytes before what was read last have changed.
func (ls *lines) compare() error {
	if ls.now == nil {
		return nil
	}
	seen := lastOf(ls.buf[:ls.w])
	n, err := ls.file.ReadAt(ls.now[:len(seen)], ls.base+int64(ls.w-len(seen)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(seen, ls.now[:n]) {
		return ErrRewritten
	}
	return nil
}

// grow makes room behind the part of a line that fills the buffer, for no more than the
// line if that is long. It drops the part if the line is too long.
func (ls *lines) grow(ln *line) {
	size := min(int64(8*len(ls.buf)), manyBlocks)
	if len(ls.buf) >= manyBlocks && !ln.long {
		size = int64(ls.w-ls.r) + ls.ahead(ls.longest)
		ln.long = size > ls.longest
		size += windowSize + blockSize
	}
	if ln.long {
		ls.take(ln, ls.w)
		return
	}
	ls.buf = append(make([]byte, 0, size), ls.buf...)[:size]
}

// ahead returns how many bytes of the line follow the buffer, or some number beyond most.
// A read error shows up when the bytes are read.
func (ls *lines) ahead(most int64) (size int64) {
	ends := "\n\r"
	if ls.newer {
		ends = "\n"
	}
	block := make([]byte, blockSize)
	for size <= most && ls.ctx.Err() == nil {
		n, err := ls.file.ReadAt(block, ls.base+int64(ls.w)+size)
		end := n
		for _, c := range []byte(ends) {
			if i := bytes.IndexByte(block[:end], c); i >= 0 {
				end = i
			}
		}
		size += int64(end)
		if end < n || err != nil {
			break
		}
	}
	return size
}

// lastOf returns the last windowSize bytes of p.
func lastOf(p []byte) []byte { return p[max(0, len(p)-windowSize):] }
