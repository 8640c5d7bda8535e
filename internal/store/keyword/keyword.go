package keyword

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Keyword is a text to look for. It is safe for concurrent use.
type Keyword struct {
	lower  []byte
	filter filter
	valid  bool // it is UTF-8, as every row is; else no row holds it
}

// New returns the keyword of a text. Every row holds the empty one.
func New(text string) *Keyword {
	lower := appendLower(nil, []byte(text))
	return &Keyword{lower, newFilter(string(lower)), utf8.Valid(lower)}
}

// Reader looks for a keyword in one file after the other. It keeps its memory
// for the next file, at most a few MiB. It is for one goroutine.
type Reader struct {
	*Keyword
	in         blocks
	row, lower []byte // the last row as Python writes it, and the same in lower case
}

// Reader returns a new reader that looks for k.
func (k *Keyword) Reader() *Reader { return &Reader{Keyword: k} }

// DamageError is the reason why it is unknown whether a file holds the keyword: the file
// cannot be read, or a line is not UTF-8.
type DamageError struct {
	Line   int   // from 1; 0: the whole file
	Offset int64 // of the line
	Err    error
}

func (e *DamageError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d at byte %d: %v", e.Line, e.Offset, e.Err)
}

// Unwrap returns the fault.
func (e *DamageError) Unwrap() error { return e.Err }

var errNotUTF8 = errors.New("not UTF-8")

// Find reports whether a row of the transcript f holds the keyword. Lines that are no
// JSON are skipped, as in the reference. The error is the error of ctx when ctx ends, and
// else a [*DamageError]. A line that is not UTF-8 is an error only where no row holds the
// keyword.
func (r *Reader) Find(ctx context.Context, f io.Reader) (bool, error) {
	r.in.reset(f)
	var damage error
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		block, err := r.in.next()
		if errors.Is(err, io.EOF) {
			return false, damage
		}
		if err != nil {
			return false, &DamageError{Err: err}
		}
		if r.inBlock(block.Bytes) {
			return true, nil
		}
		if damage == nil && !ValidUTF8(block.Bytes) {
			damage = notUTF8(block)
		}
	}
}

// notUTF8 names the first line of a block that is not UTF-8. There is one.
func notUTF8(block jsonl.Line) error {
	for line := range jsonl.Lines(block.Bytes) {
		if !utf8.Valid(line.Bytes) {
			return &DamageError{Line: block.Number + line.Number - 1, Offset: block.Offset + line.Offset, Err: errNotUTF8}
		}
	}
	return nil
}

// inBlock searches the lines of a block that the filter selects.
func (r *Reader) inBlock(block []byte) bool {
	if !r.valid {
		return false
	}
	h := r.filter.hunt(block)
	for at := h.next(0); at < len(block); {
		start := bytes.LastIndexByte(block[:at], '\n') + 1
		end := len(block)
		if n := bytes.IndexByte(block[at:], '\n'); n >= 0 {
			end = at + n
		}
		if r.inLine(jsonl.Line{Bytes: block[start:end]}) {
			return true
		}
		at = h.next(end + 1)
	}
	return false
}

// inLine searches the rows of a line.
func (r *Reader) inLine(line jsonl.Line) (found bool) {
	// A line that cannot be read holds no row.
	_ = jsonl.ReadRows(line, func(raw []byte) error {
		row := pyjson.TrimSpace(raw)
		if len(row) == 0 {
			return nil
		}
		if err := pyjson.Check(row, pyjson.Tolerant); err != nil {
			return err
		}
		found = found || r.inRow(row)
		return nil
	})
	return found
}

// inRow writes a row anew and searches the result.
func (r *Reader) inRow(value []byte) bool {
	row, err := pyjson.Append(r.row[:0], value, pyjson.Style{})
	if err != nil {
		return false
	}
	row = maskSurrogates(row)
	lower := appendLower(r.lower[:0], row)
	found := bytes.Contains(lower, r.Keyword.lower)
	if cap(row) <= maxScratch && cap(lower) <= maxScratch {
		r.row, r.lower = row, lower
	}
	return found
}

// maskSurrogates replaces every lone surrogate by a byte that is in no
// keyword. A row that was written anew holds a lone surrogate as an escape; in
// Python it is one character.
func maskSurrogates(row []byte) []byte {
	const escape = len(`\udc00`)
	if !bytes.Contains(row, []byte(`\ud`)) {
		return row
	}
	masked := row[:0]
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] != '\\':
			masked = append(masked, row[i])
		case bytes.HasPrefix(row[i:], []byte(`\ud`)):
			masked = append(masked, 0xff)
			i += escape - 1
		default:
			masked = append(masked, row[i], row[i+1])
			i++
		}
	}
	return masked
}

// blockSize is the number of bytes that are searched at once: enough to make a call of
// the system cheap, and few enough to stay in a processor's cache.
const blockSize = 256 << 10

// maxScratch is the greatest size of a buffer that is kept for the next use.
const maxScratch = 1 << 20

// blocks cuts a file into blocks of whole lines.
type blocks struct {
	in    io.Reader
	buf   []byte     // the last block, and the bytes read behind it
	block jsonl.Line // the last block
	rest  int        // offset in buf of the next block
	ended bool       // nothing is left to read
}

// reset makes in the file that is cut.
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
	if err := limits.Check(int64(len(b.buf))); err != nil {
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
