package jsonl

import (
	"bytes"
	"errors"
	"iter"
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
