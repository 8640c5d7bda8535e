package index

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// Row is what the index has to know about a message.
type Row struct {
	turns.Row
	Prompt bool         // a person wrote it
	Text   func() bool  // it has text; asked of prompts alone
	Sum    xxh3.Uint128 // of its line; of no use to [Count] and [CountRows]
}

// Parse hands the messages of a line to keep, and returns an error when the
// line is damaged.
type Parse func(line jsonl.Line, keep func(Row)) error

// Build reads the transcript in r from its beginning to its end. It fails when
// a line is damaged or r cannot be read.
func Build(ctx context.Context, r io.Reader, parse Parse) (*Rows, error) {
	b := newBuilder(&Rows{Ended: true, full: true})
	return b.build(ctx, r, parse)
}

// ErrOther tells that a transcript does not begin with what the index knows.
var ErrOther = errors.New("the transcript is another one than the index knows")

// Extend returns the index of the transcript in r, of which x knows the
// beginning. It hashes that and parses what follows. The error Is [ErrOther]
// when the transcript does not begin so, or the index cannot tell where to go
// on.
func (x *Rows) Extend(ctx context.Context, r io.Reader, parse Parse) (*Rows, error) {
	return x.extend(ctx, r, 0, parse)
}

// ExtendEnd is Extend for a transcript of size bytes that is known to begin so,
// see [Rows.Begins]: of what x knows it hashes the last block only.
func (x *Rows) ExtendEnd(ctx context.Context, r io.ReaderAt, size int64, parse Parse) (*Rows, error) {
	whole := x.Size / BlockSize
	return x.extend(ctx, io.NewSectionReader(r, whole*BlockSize, size-whole*BlockSize), int(whole), parse)
}

// extend is Extend for a reader that begins with block from.
func (x *Rows) extend(ctx context.Context, r io.Reader, from int, parse Parse) (*Rows, error) {
	if !x.Ended || !x.full {
		return nil, ErrOther
	}
	b := newBuilder(x)
	b.sums = &sums{from: from, size: int64(from) * BlockSize}
	if err := b.verify(ctx, r, x, from); err != nil {
		return nil, err
	}
	return b.build(ctx, r, parse)
}

// Count returns the facts of the transcript data.
func Count(data []byte, parse Parse) (Facts, error) {
	b := newCounter()
	for line := range jsonl.Lines(data) {
		if err := parse(line, func(row Row) { b.row(line, row) }); err != nil {
			return Facts{}, err
		}
	}
	f := b.rows.Facts
	f.Size, f.Unanswered = int64(len(data)), len(b.open)
	return f, nil
}

// CountRows returns the facts of messages of which nobody knows where they stand.
func CountRows(rows iter.Seq[Row]) Facts {
	b := newCounter()
	for row := range rows {
		b.row(jsonl.Line{}, row)
	}
	f := b.rows.Facts
	f.Unanswered = len(b.open)
	return f
}

// builder makes one Rows.
type builder struct {
	rows   *Rows
	open   map[xxh3.Uint128]bool // by the hashes of ids
	sums   *sums                 // nil: the blocks are not hashed
	prefix Prefix                // of the messages so far
}

// newCounter returns a builder that counts and hashes no blocks.
func newCounter() *builder { return &builder{rows: &Rows{}, open: map[xxh3.Uint128]bool{}} }

// newBuilder returns a builder that goes on at the end of x.
func newBuilder(x *Rows) *builder {
	known := blocks{x.blocks.file, slices.Clone(x.blocks.made)}
	b := &builder{sums: &sums{}, rows: &Rows{Facts: x.Facts, Ended: true, blocks: known}, open: make(map[xxh3.Uint128]bool, len(x.open))}
	for _, sum := range x.open {
		b.open[sum] = true
	}
	if known.len() > 0 {
		b.prefix = known.last().prefix
	}
	return b
}

// verify reads the part of r that x knows; r begins with block from.
func (b *builder) verify(ctx context.Context, r io.Reader, x *Rows, from int) error {
	buf := make([]byte, BlockSize)
	for i := from; i < x.blocks.len(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buf[:min(BlockSize, x.Size-int64(i)*BlockSize)]
		_, err := io.ReadFull(r, part)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return ErrOther
		}
		if err != nil {
			return err
		}
		if xxh3.Hash128(part) != x.blocks.at(i).sum {
			return ErrOther
		}
		b.sums.add(part)
	}
	return nil
}

func (b *builder) build(ctx context.Context, r io.Reader, parse Parse) (*Rows, error) {
	start := b.rows.Size
	lines := jsonl.NewReader(&hashed{r, b.sums})
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return b.done(), nil
		}
		if err != nil {
			return nil, err
		}
		line.Offset += start
		if err := b.line(line, parse); err != nil {
			return nil, err
		}
	}
}

// line takes the messages of the next line.
func (b *builder) line(line jsonl.Line, parse Parse) error {
	b.fill(line.Offset / BlockSize)
	if k := b.rows.blocks.last(); k.first == BlockSize {
		k.first = uint32(line.Offset % BlockSize)
	}
	b.rows.Ended = line.Ended
	err := parse(line, func(row Row) {
		b.prefix = b.prefix.Plus(row.Sum)
		b.row(line, row)
	})
	k := b.rows.blocks.last()
	k.rows, k.turns, k.prefix = b.rows.Messages, b.rows.Turns, b.prefix
	return err
}

func (b *builder) row(line jsonl.Line, row Row) {
	f := &b.rows.Facts
	f.Messages++
	if row.Begins {
		f.Turns++
	}
	if row.Prompt {
		f.Prompts++
		if f.Prompt.Size == 0 && row.Text() {
			f.Prompt = Line{line.Offset, int64(len(line.Bytes)), xxh3.Hash128(line.Bytes)}
		}
	}
	for _, k := range row.Calls() {
		if k.Named {
			b.open[xxh3.HashString128(k.ID)] = true
		}
	}
	for _, k := range row.Results() {
		delete(b.open, xxh3.HashString128(k.ID))
	}
}

// fill adds the blocks up to number at, in which no line began so far.
func (b *builder) fill(at int64) {
	for all := &b.rows.blocks; int64(all.len()) <= at; {
		all.made = append(all.made, block{first: BlockSize, rows: b.rows.Messages, turns: b.rows.Turns, prefix: b.prefix})
	}
}

func (b *builder) done() *Rows {
	x := b.rows
	x.Size = b.sums.size
	sums := b.sums.finish()
	if len(sums) > 0 {
		b.fill(int64(b.sums.from+len(sums)) - 1)
	}
	before := x.blocks.inFile() - b.sums.from // negative: of some blocks that were made the hash is known
	for i := max(0, -before); i < len(x.blocks.made); i++ {
		x.blocks.made[i].sum = sums[before+i]
	}
	x.setOpen(b.open)
	return x
}

// sums hashes blocks.
type sums struct {
	from int            // number of the first one
	size int64          // up to the end of the last one
	all  []xxh3.Uint128 // of the blocks that are full
	last xxh3.Hasher    // of the one that is not
}

// add hashes the next bytes.
func (s *sums) add(p []byte) {
	for len(p) > 0 {
		have := int(s.size % BlockSize)
		n := min(len(p), BlockSize-have)
		switch {
		case n == BlockSize:
			s.all = append(s.all, xxh3.Hash128(p[:n]))
		default:
			s.last.Write(p[:n]) // never fails
			if have+n == BlockSize {
				s.all = append(s.all, s.last.Sum128())
				s.last.Reset()
			}
		}
		s.size += int64(n)
		p = p[n:]
	}
}

// finish returns the hashes of all blocks.
func (s *sums) finish() []xxh3.Uint128 {
	if s.size%BlockSize > 0 {
		return append(s.all, s.last.Sum128())
	}
	return s.all
}

// hashed hashes what is read.
type hashed struct {
	r    io.Reader
	sums *sums
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.sums.add(p[:n])
	return n, err
}
