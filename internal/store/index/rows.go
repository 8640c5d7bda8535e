package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// BlockSize is the number of bytes with one hash.
const BlockSize = 64 << 10

// LargeFrom is the least size of a transcript with a rows file. A smaller transcript is
// read as a whole.
const LargeFrom = 1 << 20

// maxOpen is the most unanswered calls that a rows file holds. With more of them the file
// cannot be extended.
const maxOpen = 128

// ErrOther is returned when a transcript contradicts its index.
var ErrOther = errors.New("the transcript is another one than the index knows")

// Rows holds the places at which the messages and the turns of one transcript begin.
type Rows struct {
	Facts
	Seen   Seen
	ID     string // of the session
	Ended  bool   // the last line has its LF
	blocks blocks
	open   []xxh3.Uint128 // hashes of the ids of the calls that no message has answered, in their order
	full   bool           // open is all of them

	appended vfs.Stamp // of the transcript after appends of this library, if noted; see Begins
	noted    bool
}

// Encode returns the rows file.
func (x *Rows) Encode() []byte {
	c := codec{writes: true, b: []byte(rowsHead)}
	c.rows(x)
	return append(make([]byte, noteSize, noteSize+len(c.b)+sumSize), seal(c.b)...)
}

// ParseRows reads a rows file.
func ParseRows(data []byte) (*Rows, error) {
	if len(data) < noteSize {
		return nil, errBad
	}
	c, err := unseal(data[noteSize:], rowsHead)
	if err != nil {
		return nil, err
	}
	x := &Rows{}
	if c.rows(x); c.bad || len(c.b) > 0 || !x.agrees() {
		return nil, errBad
	}
	x.appended, x.noted = readNote(data, x.Seen)
	return x, nil
}

func (c *codec) rows(x *Rows) {
	c.text(&x.ID)
	c.seen(&x.Seen)
	c.facts(&x.Facts)
	c.bool(&x.Ended)
	c.bool(&x.full)
	open, n := len(x.open), x.blocks.len()
	if c.count(&open, sumSize); !c.writes {
		x.open = make([]xxh3.Uint128, open)
	}
	for i := range x.open {
		c.sum(&x.open[i])
	}
	if c.count(&n, blockBytes); c.writes {
		c.b = append(c.b, x.blocks...)
	} else {
		x.blocks = c.read(n * blockBytes)
	}
}

// agrees reports whether the blocks and the facts are about the same transcript.
func (x *Rows) agrees() bool {
	n := x.blocks.len()
	if n == 0 {
		return x.Facts == Facts{}
	}
	last := x.blocks.at(n - 1)
	return int64(n) == blocksIn(x.Size) && last.end.Rows == x.Messages && last.end.Turns == x.Turns
}

// blocksIn returns the number of blocks in size bytes.
func blocksIn(size int64) int64 { return (size + BlockSize - 1) / BlockSize }

// sizeOf returns the size of block i in bytes.
func (x *Rows) sizeOf(i int64) int64 { return min(BlockSize, x.Size-i*BlockSize) }

// At returns the place from which to read for the first message that is neither before
// message row nor before a turn, both counted from 1, which is one of the transcript.
func (x *Rows) At(row, turn int) Place {
	i := sort.Search(x.blocks.len(), func(i int) bool {
		end := x.blocks.at(i).end
		return end.Rows >= row && end.Turns >= turn
	})
	if i == 0 {
		return Place{}
	}
	p := x.blocks.at(i - 1).end
	p.Offset = int64(i)*BlockSize + int64(x.blocks.at(i).first)
	return p
}

// setOpen sets the unanswered calls.
func (x *Rows) setOpen(calls map[xxh3.Uint128]bool) {
	x.open, x.full = nil, len(calls) <= maxOpen
	if x.full {
		x.open = slices.SortedFunc(maps.Keys(calls), compareSums)
	}
}

func compareSums(a, b xxh3.Uint128) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// Begins reports whether the transcript, which has the stamp now, begins with the content
// in x, since only appends of this library have changed it.
func (x *Rows) Begins(now vfs.Stamp) bool {
	return x.noted && x.Size <= now.Size && x.appended.Same(now)
}

// Fits reports whether x describes the whole transcript, which has the stamp now.
func (x *Rows) Fits(now vfs.Stamp) bool { return x.Size == now.Size && x.Seen.Fits(now) }

// block holds the facts about BlockSize bytes, or fewer in the last block.
type block struct {
	sum   xxh3.Uint128
	first uint32 // offset in the block of the first line that begins in it; BlockSize: none does
	end   Place  // behind the messages in lines that begin before the end of the block; without Offset
}

// blockBytes is the size of a block in a rows file.
const blockBytes = sumSize + 3*4 + sumSize

// blocks are the blocks of one transcript, as a rows file holds them. A transcript has
// many, and the reader of a part needs a few.
type blocks []byte

func (s blocks) len() int { return len(s) / blockBytes }

func (s blocks) at(i int) block {
	b := s[i*blockBytes:][:blockBytes]
	n := func(i int) int { return int(binary.BigEndian.Uint32(b[sumSize+4*i:])) }
	return block{sumIn(b), uint32(n(0)), Place{Rows: n(1), Turns: n(2), Prefix: Prefix(sumIn(b[sumSize+3*4:]))}}
}

// append returns s with one more block.
func (s blocks) append(k block) blocks {
	s = appendSum(s, k.sum)
	for _, n := range [...]int{int(k.first), k.end.Rows, k.end.Turns} {
		s = binary.BigEndian.AppendUint32(s, uint32(n))
	}
	return appendSum(s, xxh3.Uint128(k.end.Prefix))
}

// set changes an existing block.
func (s blocks) set(i int, k block) { s[:i*blockBytes].append(k) }

// Place is a place between two messages of a transcript. The zero Place is the
// beginning.
type Place struct {
	Offset      int64  // the beginning of a line, at which reading may begin; set in a place that [Rows] returns
	Rows, Turns int    // messages and turns that begin before it
	Prefix      Prefix // of these messages
}

// Pass makes p the place behind the message that follows. sum is the hash of its line.
func (p *Place) Pass(beginsTurn bool, sum xxh3.Uint128) {
	p.Offset = 0
	p.Rows++
	if beginsTurn {
		p.Turns++
	}
	p.Prefix = p.Prefix.Plus(sum)
}

// Prefix identifies the first messages of a transcript. It is a chained hash: each
// message adds the hash of its line to the prefix of the messages before. It depends
// neither on blank lines nor on offsets. The zero Prefix belongs to no messages.
type Prefix xxh3.Uint128

// Plus returns the prefix with one more message, the line of which has the hash
// sum.
func (p Prefix) Plus(sum xxh3.Uint128) Prefix {
	var both [2 * sumSize]byte
	return Prefix(xxh3.Hash128(appendSum(appendSum(both[:0], xxh3.Uint128(p)), sum)))
}

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
