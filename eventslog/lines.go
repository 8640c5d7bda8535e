package eventslog

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

const (
	blockSize  = 256 << 10
	windowSize = 4 << 10                // the bytes that a cursor knows
	fewBlocks  = 2 << 20                // to which the buffer grows step by step
	manyBlocks = 8 << 20                // to which it grows then; of longer lines the end is looked for first
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

	src      source
	buf      []byte
	r, to, w int // buf[r:w] is unread, buf[r:to] is its part up to the first LF

	at     int64  // where the next line begins
	number int    // LFs before at; negative: not known
	window []byte // ends with the bytes before at; nil: they are not kept
}

// newLines returns lines of nothing yet; see [lines.begin]. Unless sums, it knows no cursors.
func newLines(newer bool, longest int64, sums bool) lines {
	ls := lines{newer: newer, longest: longest, buf: make([]byte, blockSize)}
	if sums {
		ls.window = make([]byte, 0, 4*windowSize)
	}
	return ls
}

// begin goes to the cursor in file. If the file ends before that, it goes elsewhere.
func (ls *lines) begin(ctx context.Context, file io.ReaderAt, from Cursor) error {
	ls.at, ls.number = max(0, from.Offset), from.Line
	ls.r, ls.to, ls.w = 0, 0, 0
	if ls.window != nil {
		size := min(ls.at, windowSize)
		n, err := file.ReadAt(ls.window[:size], ls.at-size)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ls.window, ls.at = ls.window[:n], ls.at-size+int64(n)
	}
	ls.src = source{ctx: ctx, file: file, at: ls.at}
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
	ls.src.seen, ls.src.now = append(make([]byte, 0, 4*windowSize), ls.window...), make([]byte, windowSize)
	return nil
}

// cursor returns the place behind the last line.
func (ls *lines) cursor() Cursor {
	c := Cursor{Offset: ls.at, Line: ls.number}
	if last := lastOf(ls.window); len(last) > 0 {
		c.Sum = xxh3.Hash128(last).Bytes()
	}
	return c
}

// next returns the next line. The error is io.EOF behind the last.
func (ls *lines) next() (line, error) {
	ln := line{offset: ls.at, number: max(0, ls.number+1)}
	for seen := 0; ; seen = ls.to - ls.r {
		if ls.r+seen == ls.to {
			var err error
			seen, err = ls.fill(&ln)
			if errors.Is(err, io.EOF) && ln.size+int64(seen) > 0 {
				ls.take(&ln, ls.w)
				return ln, nil
			}
			if err != nil {
				return line{}, err
			}
		}
		if end := ls.lineEnd(ls.r + seen); end >= 0 {
			ln.ended = true
			ls.take(&ln, end)
			if ls.buf[end] == '\n' && ls.number >= 0 {
				ls.number++
			}
			ls.pass(1)
			return ln, nil
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
	text := ls.buf[ls.r:end]
	ls.pass(len(text))
	ln.size += int64(len(text))
	if ln.long = ln.long || ln.size > ls.longest; !ln.long {
		ln.text = text
	}
}

// pass goes on behind n bytes of the buffer.
func (ls *lines) pass(n int) {
	if ls.window != nil {
		ls.window = slide(ls.window, ls.buf[ls.r:ls.r+n])
	}
	ls.at += int64(n)
	ls.r += n
}

// fill goes on to the next LF of the buffer, or reads the next block. It returns the number
// of bytes of the line before that in the buffer; of a line that is too long it drops them.
func (ls *lines) fill(ln *line) (seen int, err error) {
	if ls.to == ls.w {
		if ls.w-ls.r == len(ls.buf) {
			ls.grow(ln)
		}
		seen = copy(ls.buf, ls.buf[ls.r:ls.w])
		ls.r, ls.to, ls.w = 0, seen, seen
		n, err := ls.src.Read(ls.buf[seen:min(len(ls.buf), seen+blockSize)])
		if err != nil {
			return seen, err
		}
		ls.w += n
	}
	if n := bytes.IndexByte(ls.buf[ls.to:ls.w], '\n'); n >= 0 {
		ls.to += n + 1
	} else {
		ls.to = ls.w
	}
	return seen, nil
}

// grow makes room behind the part of a line that fills the buffer, for no more than the
// line if that is long. It drops the part if the line is too long.
func (ls *lines) grow(ln *line) {
	size := int64(2 * len(ls.buf))
	switch {
	case ln.long:
	case size > manyBlocks:
		size = int64(len(ls.buf)) + ls.src.lineEnd(!ls.newer, ls.longest)
		ln.long = size > ls.longest
		size += blockSize
	case size > fewBlocks:
		size = manyBlocks
	}
	if ln.long {
		ls.take(ln, ls.w)
		return
	}
	ls.buf = append(make([]byte, 0, size), ls.buf...)[:size]
}

// source is a file from an offset on.
type source struct {
	ctx  context.Context
	file io.ReaderAt
	at   int64
	seen []byte // ends with the bytes before at, which are compared with the file; nil: they are not
	now  []byte // the file's bytes there
}

// Read reads the next bytes. The error is the context's if that has ended, and ErrRewritten
// when the bytes before, which were read earlier, have changed.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.file.ReadAt(p, s.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	if s.seen != nil {
		if err := s.compare(); err != nil {
			return 0, err
		}
		s.seen = slide(s.seen, p[:n])
	}
	s.at += int64(n)
	return n, nil
}

func (s *source) compare() error {
	seen := lastOf(s.seen)
	n, err := s.file.ReadAt(s.now[:len(seen)], s.at-int64(len(seen)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(seen, s.now[:n]) {
		return ErrRewritten
	}
	return nil
}

// lineEnd returns how many bytes there are before the end of the line, or some number
// beyond most. A read error shows up when the bytes are read.
func (s *source) lineEnd(cr bool, most int64) (size int64) {
	block := make([]byte, blockSize)
	for size <= most && s.ctx.Err() == nil {
		n, err := s.file.ReadAt(block, s.at+size)
		i := bytes.IndexByte(block[:n], '\n')
		if i < 0 {
			i = n
		}
		if k := bytes.IndexByte(block[:i], '\r'); cr && k >= 0 {
			i = k
		}
		size += int64(i)
		if i < n || err != nil {
			break
		}
	}
	return size
}

// slide returns the last bytes of the window and p together, without another allocation.
func slide(window, p []byte) []byte {
	if len(p) >= windowSize {
		return append(window[:0], p[len(p)-windowSize:]...)
	}
	if len(window)+len(p) > cap(window) {
		window = append(window[:0], lastOf(window)...)
	}
	return append(window, p...)
}

// lastOf returns the last windowSize bytes of p.
func lastOf(p []byte) []byte { return p[max(0, len(p)-windowSize):] }
