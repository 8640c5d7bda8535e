package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// A Line is one line without its LF.
type Line struct {
	Bytes  []byte
	Number int   // from 1
	Offset int64 // of its first byte
	Ended  bool  // an LF followed
}

// Lines yields the lines of data, which they alias. Empty data has none, and an LF at the
// very end begins no further line.
func Lines(data []byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		offset := int64(0)
		for number := 1; len(data) > 0; number++ {
			line, rest, ended := bytes.Cut(data, []byte{'\n'})
			if !yield(Line{Bytes: line, Number: number, Offset: offset, Ended: ended}) {
				return
			}
			offset += int64(len(data) - len(rest))
			data = rest
		}
	}
}

// Count returns the number of lines of data.
func Count(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// SplitCR splits a line at its carriage returns, as a reader with universal
// newlines does. The parts carry the line's number, since LF counts lines.
func SplitCR(l Line) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		rest, more := l.Bytes, true
		for offset := l.Offset; more; {
			var part []byte
			size := len(rest)
			part, rest, more = bytes.Cut(rest, []byte{'\r'})
			if !yield(Line{Bytes: part, Number: l.Number, Offset: offset, Ended: more || l.Ended}) {
				return
			}
			offset += int64(size - len(rest))
		}
	}
}

// ReadRows passes the row of a line to read. When read refuses the whole line and the
// line holds carriage returns, ReadRows passes the parts between them, since the older
// tools read such a line so; it goes on behind a part that read refuses. The error joins
// the errors for the parts.
func ReadRows(line Line, read func(row []byte) error) error {
	err := read(line.Bytes)
	if err == nil || bytes.IndexByte(line.Bytes, '\r') < 0 {
		return err
	}
	err = nil
	for part := range SplitCR(line) {
		err = errors.Join(err, read(part.Bytes))
	}
	return err
}

const (
	bufferSize = 256 << 10
	manyBytes  = 1 << 20 // the end of a longer line is looked for before its buffer grows
)

// Reader reads lines from a stream. It holds one line in memory.
type Reader struct {
	src    *bufio.Reader
	file   io.ReaderAt // of the same bytes; nil: it can only be read onward
	from   int64       // the offset in file at which src begins
	long   []byte      // a line longer than the buffer of src
	number int
	offset int64
}

// NewReader returns a Reader of the lines of r. Where r is an [io.ReaderAt] and an
// [io.Seeker] too, as a file is, a long line takes no more memory than it has bytes.
func NewReader(r io.Reader) *Reader {
	lines := &Reader{src: bufio.NewReaderSize(r, bufferSize)}
	if f, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if at, err := f.Seek(0, io.SeekCurrent); err == nil { // a pipe has no offset
			lines.file, lines.from = f, at
		}
	}
	return lines
}

// Next returns the next line, whose bytes are valid until the next call, and io.EOF after
// the last line. The error Is [limits.ErrTooLarge] for a line that does not fit into
// memory.
func (r *Reader) Next() (Line, error) {
	r.long = r.long[:0]
	for {
		part, err := r.src.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if err := r.keep(part); err != nil {
				return Line{}, fmt.Errorf("line %d, offset %d: %w", r.number+1, r.offset, err)
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return Line{}, err
		}
		if len(r.long) > 0 {
			r.long = append(r.long, part...)
			part = r.long
		}
		return r.line(part, err == nil)
	}
}

// keep adds a part of a long line to the buffer. The error Is [limits.ErrTooLarge].
func (r *Reader) keep(part []byte) error {
	size := len(r.long) + len(part)
	if size > cap(r.long) && size > manyBytes {
		rest, found := r.ahead(int64(size))
		if err := limits.Check(int64(size) + rest); err != nil {
			return err
		}
		if found {
			r.long = append(make([]byte, 0, size+int(rest)), r.long...)
		}
	}
	r.long = append(r.long, part...)
	return limits.Check(int64(size))
}

// ahead returns how many bytes of the line follow its first size bytes, with the LF, or some
// number beyond [limits.Max]. It returns false where that is not known.
func (r *Reader) ahead(size int64) (rest int64, found bool) {
	if r.file == nil {
		return 0, false
	}
	for block := make([]byte, bufferSize); size+rest <= limits.Max; {
		n, err := r.file.ReadAt(block, r.from+r.offset+size+rest)
		if i := bytes.IndexByte(block[:n], '\n'); i >= 0 {
			return rest + int64(i) + 1, true
		}
		rest += int64(n)
		if err != nil {
			return rest, errors.Is(err, io.EOF)
		}
	}
	return rest, true
}

func (r *Reader) line(raw []byte, ended bool) (Line, error) {
	if len(raw) == 0 {
		return Line{}, io.EOF
	}
	r.number++
	l := Line{Bytes: raw, Number: r.number, Offset: r.offset, Ended: ended}
	r.offset += int64(len(raw))
	if ended {
		l.Bytes = raw[:len(raw)-1]
	}
	return l, nil
}

// Log reads data, an append-only log of which each line was synced before it was
// acknowledged. parse takes a line and reports whether it is a record; damaged is called
// for each other line that is not blank. Log returns the size of the lines that were
// written whole, and whether the last of them lacks its LF. Later bytes were never
// acknowledged, so they go to neither function: a last line that is no record and lacks
// its LF, as a killed writer leaves, or holds NUL, as a power cut leaves where it grew a
// file.
func Log(data []byte, parse func(Line) bool, damaged func(Line)) (whole int64, open bool) {
	return LogOf(Lines(data), int64(len(data)), parse, damaged)
}

// LogOf is [Log] for the lines up to the offset size. It stops at the line that was not
// written whole.
func LogOf(lines iter.Seq[Line], size int64, parse func(Line) bool, damaged func(Line)) (whole int64, open bool) {
	for line := range lines {
		if !line.Ended {
			line.Bytes = bytes.TrimRight(line.Bytes, "\x00") // in place of the LF
		}
		last := !line.Ended || line.Offset+int64(len(line.Bytes))+1 == size
		record := parse(line)
		if last && !record && (!line.Ended || bytes.IndexByte(line.Bytes, 0) >= 0) {
			return whole, open
		}
		if !record && len(bytes.TrimSpace(line.Bytes)) > 0 {
			damaged(line)
		}
		whole, open = line.Offset+int64(len(line.Bytes)), !line.Ended
		if line.Ended {
			whole++
		}
	}
	return whole, open
}

// Last returns a line of the first size bytes of r, counted from their end: 1 is
// the last. The bytes must end with an LF. It reads back from the end in parts, and
// holds the line and one part. The error Is [io.ErrUnexpectedEOF] when there are
// fewer lines.
func Last(r io.ReadSeeker, size, line int64) ([]byte, error) {
	end := int64(-1) // of the line, once it was met
	buf := make([]byte, min(size, lastPart))
	met := int64(0) // LFs
	for at := size; at > 0; {
		n := min(at, int64(len(buf)))
		at -= n
		if err := readAt(r, buf[:n], at); err != nil {
			return nil, err
		}
		for rest := buf[:n]; ; {
			i := bytes.LastIndexByte(rest, '\n')
			if i < 0 {
				break
			}
			if met++; met == line {
				end = at + int64(i)
			}
			if met > line {
				return section(r, at+int64(i)+1, end)
			}
			rest = rest[:i]
		}
	}
	if end < 0 {
		return nil, fmt.Errorf("read line from the end: %w", io.ErrUnexpectedEOF)
	}
	return section(r, 0, end)
}

const lastPart = 64 << 10

// section returns the bytes of r from one place to another.
func section(r io.ReadSeeker, from, to int64) ([]byte, error) {
	out := make([]byte, to-from)
	return out, readAt(r, out, from)
}

func readAt(r io.ReadSeeker, p []byte, at int64) error {
	_, err := r.Seek(at, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(r, p)
	}
	if err != nil {
		return fmt.Errorf("read line from the end: %w", err)
	}
	return nil
}
