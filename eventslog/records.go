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
	cr   int   // of the first CR from r on, w if there is none; less than r: not known
	line int   // LFs before the next line; negative: not known

	skipped int // lines that were passed over because they are damaged

	check []byte // of windowSize; nil: what was read before is not looked at again
}

// newRecords returns the lines of src from the cursor on.
func newRecords(src io.ReaderAt, from Cursor, newer bool) (*records, error) {
	rs := emptyRecords(newer)
	return rs, rs.begin(src, from)
}

// emptyRecords returns records of nothing yet; see [records.begin].
func emptyRecords(newer bool) *records {
	return &records{scan: scanner{newer: newer}, buf: make([]byte, windowSize+blockSize)}
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
	rs.r, rs.w, rs.cr = n, n, -1
	return err
}

// cursor returns the place behind the last line.
func (rs *records) cursor() Cursor {
	return Cursor{Offset: rs.offset(), Line: rs.line, Sum: rs.sum()}
}

// offset returns where the next line begins.
func (rs *records) offset() int64 { return rs.base + int64(rs.r) }

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
	rec := record{offset: rs.offset(), line: rs.line + 1}
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
	end := bytes.IndexByte(rs.buf[rs.r:rs.w], '\n')
	if rs.scan.newer {
		return end
	}
	if rs.cr < rs.r {
		rs.cr = rs.w
		if i := bytes.IndexByte(rs.buf[rs.r:rs.w], '\r'); i >= 0 {
			rs.cr = rs.r + i
		}
	}
	if cr := rs.cr - rs.r; rs.cr < rs.w && (end < 0 || cr < end) {
		return cr
	}
	return end
}

// fill reads more bytes and reports whether there were any. The error is
// ErrRewritten when those before them, which were read earlier, are others now.
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
	window := rs.buf[max(0, rs.w-windowSize):rs.w]
	n, err := rs.src.ReadAt(rs.buf[rs.w:], rs.base+int64(rs.w))
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if n > 0 && rs.check != nil && len(window) > 0 {
		seen := rs.check[:len(window)]
		k, err := rs.src.ReadAt(seen, rs.base+int64(rs.w-len(window)))
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if !bytes.Equal(window, seen[:k]) {
			return false, ErrRewritten
		}
	}
	rs.w += n
	rs.cr = -1
	return n > 0, nil
}
