package eventslog

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/zeebo/xxh3"
)

const (
	blockSize  = 256 << 10
	windowSize = 4 << 10 // the bytes that a cursor knows
)

// record is a line that was read, whatever it holds.
type record struct {
	offset, size int64  // without its end
	ended        bool   // the end is there
	line         int    // from 1; 0: not known
	raw          []byte // nil when it is too long to be held; valid until the next one
}

// records reads lines through a buffer, which also holds the window before
// the next one.
type records struct {
	src  io.ReaderAt
	scan scanner // has read the last line

	buf  []byte
	base int64 // offset of buf[0]
	r, w int   // of the unread bytes
	line int   // LFs before the next line; negative: not known
}

// newRecords returns the lines of src from the cursor on.
func newRecords(src io.ReaderAt, from Cursor, newer bool) (*records, error) {
	rs := &records{scan: scanner{newer: newer}, buf: make([]byte, windowSize+blockSize)}
	return rs, rs.begin(src, from)
}

// begin goes to the cursor in src. The window before it is read first; see
// [records.sum]. If src ends before the cursor, rs stands elsewhere.
func (rs *records) begin(src io.ReaderAt, from Cursor) error {
	offset := max(0, from.Offset)
	window := min(offset, windowSize)
	rs.src, rs.base, rs.line = src, offset-window, from.Line
	n, err := src.ReadAt(rs.buf[:window], rs.base)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	rs.r, rs.w = n, n
	return err
}

// cursor returns the place behind the last line.
func (rs *records) cursor() Cursor {
	return Cursor{Offset: rs.base + int64(rs.r), Line: rs.line, Sum: rs.sum()}
}

// sum returns the sum of the window before the next line; zero when it is empty.
func (rs *records) sum() [16]byte {
	window := rs.buf[max(0, rs.r-windowSize):rs.r]
	if len(window) == 0 {
		return [16]byte{}
	}
	return xxh3.Hash128(window).Bytes()
}

// next reads the next line. The error is io.EOF behind the last, and ctx's
// when that has ended before a block is read.
func (rs *records) next(ctx context.Context) (record, error) {
	rs.scan.reset()
	rec := record{offset: rs.base + int64(rs.r), line: rs.line + 1}
	if rs.line < 0 {
		rec.line = 0
	}
	for long := false; ; {
		if n := rs.lineEnd(); n >= 0 {
			rec.ended = true
			rs.take(&rec, n, long)
			if rs.buf[rs.r] == '\n' && rs.line >= 0 {
				rs.line++
			}
			rs.r++
			return rec, nil
		}
		if long || rs.w == len(rs.buf) && rs.r <= windowSize {
			long = true
			rs.take(&rec, rs.w-rs.r, long)
		}
		more, err := rs.fill(ctx)
		if err != nil {
			return record{}, err
		}
		if !more {
			rs.take(&rec, rs.w-rs.r, long)
			if rec.size == 0 {
				return record{}, io.EOF
			}
			return rec, nil
		}
	}
}

// take gives the next n bytes to the scanner.
func (rs *records) take(rec *record, n int, long bool) {
	piece := rs.buf[rs.r : rs.r+n]
	rs.scan.feed(piece)
	rec.size += int64(n)
	if !long {
		rec.raw = piece
	}
	rs.r += n
}

// lineEnd returns how many bytes there are before the end of the line, or -1.
func (rs *records) lineEnd() int {
	rest := rs.buf[rs.r:rs.w]
	lf := bytes.IndexByte(rest, '\n')
	if rs.scan.newer {
		return lf
	}
	if lf >= 0 {
		rest = rest[:lf]
	}
	if cr := bytes.IndexByte(rest, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill reads more bytes and reports whether there were any.
func (rs *records) fill(ctx context.Context) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if cut := rs.r - windowSize; cut > 0 {
		copy(rs.buf, rs.buf[cut:rs.w])
		rs.base += int64(cut)
		rs.r -= cut
		rs.w -= cut
	}
	n, err := rs.src.ReadAt(rs.buf[rs.w:], rs.base+int64(rs.w))
	rs.w += n
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n > 0, err
}
