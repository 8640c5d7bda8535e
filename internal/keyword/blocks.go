package keyword

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/whole"
)

// blockSize is how much is looked through at once: enough to make a call of
// the system cheap, and little enough to stay in a processor's cache.
const blockSize = 256 << 10

// maxScratch is how much of a buffer is kept for what comes next.
const maxScratch = 1 << 20

// blocks cuts a file into blocks of whole lines.
type blocks struct {
	in    io.Reader
	buf   []byte     // the last block, and what was read behind it
	block jsonl.Line // the last block
	rest  int        // where in buf the next block begins
	ended bool       // nothing is left to read
}

// reset makes in the file to cut.
func (b *blocks) reset(in io.Reader) {
	buf := b.buf[:0]
	if cap(buf) > maxScratch {
		buf = nil
	}
	*b = blocks{in: in, buf: buf, block: jsonl.Line{Number: 1}}
}

// next returns the next lines of the file as if they were one, without the
// line break of the last, and io.EOF when there are none. The bytes are valid
// until the next call.
func (b *blocks) next() (jsonl.Line, error) {
	if b.ended && b.rest == len(b.buf) {
		return jsonl.Line{}, io.EOF
	}
	b.block.Offset += int64(b.rest)
	b.block.Number += bytes.Count(b.buf[:b.rest], []byte{'\n'})
	left := copy(b.buf, b.buf[b.rest:])
	b.buf, b.rest = b.buf[:left], 0
	for end := 0; !b.ended; {
		if err := b.fill(); err != nil {
			return jsonl.Line{}, err
		}
		if n := bytes.LastIndexByte(b.buf[end:], '\n'); n >= 0 {
			b.rest = end + n + 1
			b.block.Bytes = b.buf[:b.rest-1]
			return b.block, nil
		}
		end = len(b.buf)
	}
	if len(b.buf) == 0 {
		return jsonl.Line{}, io.EOF
	}
	b.rest = len(b.buf)
	b.block.Bytes = b.buf
	return b.block, nil
}

// fill reads more behind buf.
func (b *blocks) fill() error {
	if err := whole.Check(int64(len(b.buf))); err != nil {
		return fmt.Errorf("line %d: %w", b.block.Number, err)
	}
	if len(b.buf) == cap(b.buf) {
		b.buf = append(make([]byte, 0, max(blockSize, 2*cap(b.buf))), b.buf...)
	}
	n, err := b.in.Read(b.buf[len(b.buf):cap(b.buf)])
	b.buf = b.buf[:len(b.buf)+n]
	if errors.Is(err, io.EOF) {
		b.ended, err = true, nil
	}
	return err
}
