package index

import (
	"bytes"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Lines reads the lines of a transcript with the help of its index. It returns no part of
// a block whose hash is wrong: the error is then [ErrOther]. It holds one block, and one
// line that does not end in its block. That line gets exactly the memory that it takes,
// since its end is in the index.
type Lines struct {
	rows  *Rows
	r     io.ReaderAt
	at    int64 // of the next line
	buf   []byte
	block int64 // number of the block that buf holds; negative: none
}

// Lines returns the lines of the transcript r from a place on.
func (x *Rows) Lines(r io.ReaderAt, from Place) *Lines {
	return &Lines{rows: x, r: r, at: from.Offset, block: -1}
}

// Next returns the next line, and io.EOF after the last. Unless own, its bytes are valid
// until the next call. Its number is 0.
func (l *Lines) Next() (line jsonl.Line, own bool, err error) {
	rest, err := l.from(l.at)
	if err != nil {
		return jsonl.Line{}, false, err
	}
	line = jsonl.Line{Offset: l.at}
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		line.Bytes, line.Ended = rest[:i], true
		l.at += int64(i) + 1
		return line, false, nil
	}
	size := l.rows.nextLine(l.block+1) - l.at
	if err := limits.Check(size); err != nil {
		return jsonl.Line{}, false, err
	}
	line.Bytes = make([]byte, size)
	if err := l.read(line.Bytes); err != nil {
		return jsonl.Line{}, false, err
	}
	l.at += size
	switch i := bytes.IndexByte(line.Bytes, '\n'); {
	case i == len(line.Bytes)-1:
		line.Bytes, line.Ended = line.Bytes[:i:i], true
	case i >= 0 || l.at < l.rows.Size:
		return jsonl.Line{}, false, ErrOther // no version of this library makes such an index
	}
	return line, true, nil
}

// Long reports whether the next line does not end in its block. It also returns the
// number of messages and turns that begin up to the end of such a line.
func (l *Lines) Long() (rows, turns int, long bool, err error) {
	rest, err := l.from(l.at)
	if err != nil || bytes.IndexByte(rest, '\n') >= 0 {
		return 0, 0, false, err
	}
	k := l.rows.blocks.at(int(l.block))
	return k.end.Rows, k.end.Turns, true, nil
}

// from returns the rest of the block with the byte at the offset at, from there on. The
// error is io.EOF behind the end.
func (l *Lines) from(at int64) ([]byte, error) {
	if at >= l.rows.Size {
		return nil, io.EOF
	}
	if l.buf == nil {
		l.buf = make([]byte, BlockSize)
	}
	i := at / BlockSize
	block := l.buf[:l.rows.sizeOf(i)]
	if i != l.block {
		l.block = -1
		if err := l.rows.check(l.r, i, block); err != nil {
			return nil, err
		}
		l.block = i
	}
	return block[at%BlockSize:], nil
}

// read fills p with the bytes from the next line on.
func (l *Lines) read(p []byte) error {
	for at := l.at; len(p) > 0; {
		rest, err := l.from(at)
		if err != nil {
			return err
		}
		n := copy(p, rest)
		p, at = p[n:], at+int64(n)
	}
	return nil
}

// nextLine returns the offset of the first line that begins in block i or after it: the
// end of the transcript, if none does.
func (x *Rows) nextLine(i int64) int64 {
	for ; i < int64(x.blocks.len()); i++ {
		if first := int64(x.blocks.at(int(i)).first); first < BlockSize {
			return min(i*BlockSize+first, x.Size)
		}
	}
	return x.Size
}

// check reads block i of r into block, which has its size.
func (x *Rows) check(r io.ReaderAt, i int64, block []byte) error {
	return readSum(r, i*BlockSize, block, x.blocks.at(int(i)).sum)
}

// Text returns the first prompt's line, or [ErrOther] when another line is there.
func (l Line) Text(r io.ReaderAt) ([]byte, error) {
	line := make([]byte, l.Size)
	return line, readSum(r, l.At, line, l.Sum)
}

// readSum fills p with the bytes of r at an offset. The error is [ErrOther] when its hash
// is not sum, or r ends before.
func readSum(r io.ReaderAt, at int64, p []byte, sum xxh3.Uint128) error {
	n, err := r.ReadAt(p, at)
	switch {
	case n < len(p) && err != io.EOF:
		return err
	case n < len(p), xxh3.Hash128(p) != sum:
		return ErrOther
	}
	return nil
}
