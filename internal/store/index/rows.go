package index

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
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
