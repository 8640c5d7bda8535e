package index

import (
	"io"

	"github.com/zeebo/xxh3"
)

// Reader returns what reads the transcript r from the offset at to its end as
// x knows it. It hands out nothing of a block whose hash is wrong: the error is
// then [ErrOther].
func (x *Rows) Reader(r io.ReaderAt, at int64) io.Reader { return &checked{rows: x, r: r, at: at} }

type checked struct {
	rows *Rows
	r    io.ReaderAt
	at   int64
	rest []byte // of the block that was read last
	buf  []byte
}

func (c *checked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.at >= c.rows.Size {
			return 0, io.EOF
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	c.at += int64(n)
	return n, nil
}

// next reads the block with the byte at the offset at.
func (c *checked) next() error {
	i := c.at / BlockSize
	begin := i * BlockSize
	if c.buf == nil {
		c.buf = make([]byte, BlockSize)
	}
	block := c.buf[:min(BlockSize, c.rows.Size-begin)]
	if n, err := c.r.ReadAt(block, begin); n < len(block) {
		if err == io.EOF {
			err = ErrOther
		}
		return err
	}
	if xxh3.Hash128(block) != c.rows.blocks[i].sum {
		return ErrOther
	}
	c.rest = block[c.at-begin:]
	return nil
}

// Text returns the first prompt's line, or [ErrOther] when it is another one by
// now.
func (l Line) Text(r io.ReaderAt) ([]byte, error) {
	line := make([]byte, l.Size)
	n, err := r.ReadAt(line, l.At)
	switch {
	case n == len(line):
	case err == io.EOF:
		return nil, ErrOther
	default:
		return nil, err
	}
	if xxh3.Hash128(line) != l.Sum {
		return nil, ErrOther
	}
	return line, nil
}
