package jsonl

import (
	"bytes"
	"fmt"
	"io"
)

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
