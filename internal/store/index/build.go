package index

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// Row holds the facts about a message that the index needs.
type Row struct {
	turns.Row
	Prompt bool         // a person wrote it
	Text   func() bool  // reports whether it has text; called for prompts alone
	Sum    xxh3.Uint128 // of its line; of no use to [Count] and [CountRows]
	Pictures
}

// Pictures are the pictures whose data are in messages.
type Pictures struct {
	Pictures int
	Side     int // the most pixels of a width or a height; 0: not known
	Refused  int // of the pictures: damaged ones. In [Facts] also results of no call
}

// Add adds the pictures of more messages.
func (p *Pictures) Add(more Pictures) {
	p.Pictures, p.Side, p.Refused = p.Pictures+more.Pictures, max(p.Side, more.Side), p.Refused+more.Refused
}

// Parse hands the messages of a line to keep, and returns an error when the
// line is damaged.
type Parse func(line jsonl.Line, keep func(Row)) error

// Source is a transcript that is read, which lies in a file.
type Source interface {
	io.ReadSeeker
	io.ReaderAt
}

// Build reads the transcript in r from its beginning to its end. It fails when
// a line is damaged or r cannot be read.
func Build(ctx context.Context, r Source, parse Parse) (*Rows, error) {
	return (&Rows{Ended: true, full: true}).extend(ctx, r, 0, parse)
}

// Extend returns the index of the transcript in r, whose beginning x describes. It hashes
// the beginning and parses the rest. The error Is [ErrOther] when the transcript has
// another beginning, or x cannot be extended.
func (x *Rows) Extend(ctx context.Context, r Source, parse Parse) (*Rows, error) {
	return x.extend(ctx, r, 0, parse)
}

// ExtendEnd is Extend for a transcript of size bytes whose beginning is known to be the
// one in x, see [Rows.Begins]: of this beginning it hashes the last block only.
func (x *Rows) ExtendEnd(ctx context.Context, r io.ReaderAt, size int64, parse Parse) (*Rows, error) {
	whole := x.Size / BlockSize
	return x.extend(ctx, io.NewSectionReader(r, whole*BlockSize, size-whole*BlockSize), int(whole), parse)
}

// extend is Extend for a reader that begins with block from.
func (x *Rows) extend(ctx context.Context, r Source, from int, parse Parse) (*Rows, error) {
	if !x.Ended || !x.full {
		return nil, ErrOther
	}
	b := newBuilder(x)
	h := &hashed{Source: r, from: from, size: int64(from) * BlockSize}
	if err := h.verify(ctx, x); err != nil {
		return nil, err
	}
	lines := jsonl.NewReader(h)
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return b.done(h), nil
		}
		if err != nil {
			return nil, err
		}
		line.Offset += x.Size
		if err := b.line(line, parse); err != nil {
			return nil, err
		}
	}
}

// Count returns the facts of the transcript data.
func Count(data []byte, parse Parse) (Facts, error) {
	b := newBuilder(&Rows{})
	for line := range jsonl.Lines(data) {
		if err := parse(line, func(row Row) { b.row(line, row) }); err != nil {
			return Facts{}, err
		}
	}
	return b.facts(int64(len(data))), nil
}

// CountRows returns the facts of messages whose places are not known.
func CountRows(rows iter.Seq[Row]) Facts {
	b := newBuilder(&Rows{})
	for row := range rows {
		b.row(jsonl.Line{}, row)
	}
	return b.facts(0)
}

// builder makes one Rows.
type builder struct {
	rows *Rows
	open map[xxh3.Uint128]bool // by the hashes of ids
	at   Place                 // behind the messages so far
	met  int64                 // number of the last block in which a line begins; -1: none
}

// newBuilder returns a builder that goes on at the end of x.
func newBuilder(x *Rows) *builder {
	b := &builder{rows: &Rows{Facts: x.Facts, Ended: true, blocks: slices.Clone(x.blocks)}, open: make(map[xxh3.Uint128]bool, len(x.open)), met: -1}
	for _, sum := range x.open {
		b.open[sum] = true
	}
	if n := x.blocks.len(); n > 0 {
		last := x.blocks.at(n - 1)
		b.at, b.met = last.end, int64(n)-1
		if last.first == BlockSize {
			b.met--
		}
	}
	return b
}

// line adds the messages of the next line.
func (b *builder) line(line jsonl.Line, parse Parse) error {
	if i := line.Offset / BlockSize; i > b.met {
		b.met = i
		b.fill(i)
		k := b.rows.blocks.at(int(i))
		k.first = uint32(line.Offset % BlockSize)
		b.rows.blocks.set(int(i), k)
	}
	b.rows.Ended = line.Ended
	return parse(line, func(row Row) { b.row(line, row) })
}

func (b *builder) row(line jsonl.Line, row Row) {
	b.at.Pass(row.Begins, row.Sum)
	f := &b.rows.Facts
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
		sum := xxh3.HashString128(k.ID)
		if k.Named && !b.open[sum] {
			f.Refused++
		}
		delete(b.open, sum)
	}
	f.Add(row.Pictures)
}

// fill ends the last block, and adds the blocks up to block i, in which no line began so
// far.
func (b *builder) fill(i int64) {
	all := &b.rows.blocks
	if last := all.len() - 1; last >= 0 {
		k := all.at(last)
		k.end = b.at
		all.set(last, k)
	}
	for int64(all.len()) <= i {
		*all = all.append(block{first: BlockSize, end: b.at})
	}
}

// facts returns the counts so far, for a transcript of size bytes.
func (b *builder) facts(size int64) Facts {
	f := b.rows.Facts
	f.Size, f.Messages, f.Turns, f.Unanswered = size, b.at.Rows, b.at.Turns, len(b.open)
	return f
}

// done returns the index of the blocks that h read.
func (b *builder) done(h *hashed) *Rows {
	x := b.rows
	x.Facts = b.facts(h.size)
	b.fill(blocksIn(h.size) - 1)
	for i := h.from; i < x.blocks.len(); i++ {
		k := x.blocks.at(i)
		k.sum = h.sum(i)
		x.blocks.set(i, k)
	}
	x.setOpen(b.open)
	return x
}

// hashed hashes the blocks that are read.
type hashed struct {
	Source
	from int            // number of the first block
	size int64          // offset of the end of the bytes read
	full []xxh3.Uint128 // of the blocks that are full
	last xxh3.Hasher    // of the block that is not full
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.Source.Read(p)
	for p = p[:n]; len(p) > 0; {
		k := min(len(p), int(BlockSize-h.size%BlockSize))
		h.size += int64(k)
		if k == BlockSize {
			h.full = append(h.full, xxh3.Hash128(p[:k]))
		} else if h.last.Write(p[:k]); h.size%BlockSize == 0 { // it never fails
			h.full = append(h.full, h.last.Sum128())
			h.last.Reset()
		}
		p = p[k:]
	}
	return n, err
}

// sum returns the hash of block i, which was read.
func (h *hashed) sum(i int) xxh3.Uint128 {
	if i -= h.from; i < len(h.full) {
		return h.full[i]
	}
	return h.last.Sum128()
}

// verify reads the blocks of x from the first block on. The error Is [ErrOther] when
// their hashes differ from x.
func (h *hashed) verify(ctx context.Context, x *Rows) error {
	buf := make([]byte, BlockSize)
	for i := h.from; i < x.blocks.len(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := io.ReadFull(h, buf[:x.sizeOf(int64(i))])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return ErrOther
		}
		if err != nil {
			return err
		}
		if h.sum(i) != x.blocks.at(i).sum {
			return ErrOther
		}
	}
	return nil
}

// Seen is the state of a file when it was read.
type Seen struct {
	Stamp vfs.Stamp // before it was read
	Sure  bool      // a later change is sure to show in the stamp
}

// Fits reports whether the file with the stamp now is sure to be unchanged.
func (s Seen) Fits(now vfs.Stamp) bool { return s.Sure && s.Stamp.Same(now) }

func (c *codec) seen(s *Seen) {
	c.stamp(&s.Stamp)
	c.bool(&s.Sure)
}

// Facts are the counts of a pass over a transcript.
type Facts struct {
	Size       int64 // of the transcript
	Messages   int
	Turns      int // user messages without results
	Prompts    int // messages that a person wrote
	Unanswered int // ids of calls that no later message answers
	Pictures
	Prompt Line
}

// Line is the place of the first prompt with text. The zero Line is none.
type Line struct {
	At, Size int64 // without its LF
	Sum      xxh3.Uint128
}

func (c *codec) facts(f *Facts) {
	p := &f.Prompt
	for _, n := range [...]*int{&f.Messages, &f.Turns, &f.Prompts, &f.Unanswered, &f.Pictures.Pictures, &f.Side, &f.Refused} {
		if number(c, n); *n < 0 {
			c.fail()
		}
	}
	for _, n := range [...]*int64{&f.Size, &p.At, &p.Size} {
		if number(c, n); *n < 0 {
			c.fail()
		}
	}
	if c.sum(&p.Sum); p.At > f.Size || p.Size > f.Size-p.At {
		c.fail()
	}
}
