package index

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// BlockSize is how many bytes have one hash.
const BlockSize = 64 << 10

// LargeFrom is from how many bytes on a transcript has a rows file. A smaller
// one is read as a whole.
const LargeFrom = 1 << 20

// maxOpen is how many unanswered calls a rows file knows. With more of them the
// file cannot be extended.
const maxOpen = 128

const rowsHead = "sessionstore rows\x00\x05"

// Rows tells where the messages and the turns of one transcript begin.
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
	b := x.Seen.append(appendText([]byte(rowsHead), x.ID))
	b = appendBool(appendBool(x.Facts.append(b), x.Ended), x.full)
	b = binary.AppendUvarint(b, uint64(len(x.open)))
	for _, sum := range x.open {
		b = appendSum(b, sum)
	}
	b = x.blocks.append(binary.AppendUvarint(b, uint64(x.blocks.len())))
	return append(make([]byte, noteSize, noteSize+len(b)+sumSize), seal(b)...)
}

// ParseRows returns what is in a rows file.
func ParseRows(data []byte) (*Rows, error) {
	if len(data) < noteSize {
		return nil, errBad
	}
	d, err := unseal(data[noteSize:], rowsHead)
	if err != nil {
		return nil, err
	}
	x := &Rows{ID: d.oneText(), Seen: d.seen(), Facts: d.facts(), Ended: d.bool(), full: d.bool()}
	x.open = make([]xxh3.Uint128, d.count(sumSize))
	for i := range x.open {
		x.open[i] = d.sum()
	}
	x.blocks = readBlocks(d.bytes(d.count(blockBytes) * blockBytes))
	if d.bad || len(d.rest) > 0 || !x.agrees() {
		return nil, errBad
	}
	x.appended, x.noted = readNote(data, x.Seen)
	return x, nil
}

// agrees reports whether the blocks are about what the facts are about.
func (x *Rows) agrees() bool {
	n := x.blocks.len()
	if n == 0 {
		return x.Facts == Facts{}
	}
	last := x.blocks.at(n - 1)
	return int64(n) == blocksIn(x.Size) && last.rows == x.Messages && last.turns == x.Turns
}

// blocksIn returns how many blocks so many bytes have.
func blocksIn(size int64) int64 { return (size + BlockSize - 1) / BlockSize }

// Place is where reading may begin: at the beginning of a line.
type Place struct {
	Offset      int64
	Rows, Turns int    // messages and turns that begin before it
	Prefix      Prefix // of these messages
}

// Row returns where to read for message n, counted from 1, which is one of the
// transcript.
func (x *Rows) Row(n int) Place {
	return x.place(sort.Search(x.blocks.len(), func(i int) bool { return x.blocks.at(i).rows >= n }))
}

// Turn returns where to read for turn n, counted from 1, which is one of the
// transcript.
func (x *Rows) Turn(n int) Place {
	return x.place(sort.Search(x.blocks.len(), func(i int) bool { return x.blocks.at(i).turns >= n }))
}

// place returns where the first line of block i begins.
func (x *Rows) place(i int) Place {
	if i == 0 {
		return Place{}
	}
	before := x.blocks.at(i - 1)
	return Place{int64(i)*BlockSize + int64(x.blocks.at(i).first), before.rows, before.turns, before.prefix}
}

// setOpen notes which calls are unanswered.
func (x *Rows) setOpen(calls map[xxh3.Uint128]bool) {
	x.Unanswered, x.open, x.full = len(calls), nil, len(calls) <= maxOpen
	if x.full {
		x.open = slices.SortedFunc(maps.Keys(calls), compareSums)
	}
}

func compareSums(a, b xxh3.Uint128) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// Begins reports whether the transcript, which has the stamp now, begins with what
// x knows, since only appends of this library have changed it.
func (x *Rows) Begins(now vfs.Stamp) bool {
	return x.noted && x.Size <= now.Size && x.appended.Same(now)
}

// Fits reports whether x knows all of the transcript, which has the stamp now.
func (x *Rows) Fits(now vfs.Stamp) bool { return x.Size == now.Size && x.Seen.Fits(now) }

// maxSeen is how many bytes of a rows file hold what its note is about: the
// longest that there are.
const maxSeen = noteSize + len(rowsHead) + 2*binary.MaxVarintLen64 + 256 + 7*binary.MaxVarintLen64 + 1

// noteIn returns what to write to the beginning of the rows file that begins with
// b, after an append. It is nil when the file is about another state, or may be
// about an older one with the same stamp.
func noteIn(b []byte, id string, a Append) []byte {
	if len(b) < noteSize+len(rowsHead) || string(b[noteSize:noteSize+len(rowsHead)]) != rowsHead {
		return nil
	}
	d := &decoder{rest: b[noteSize+len(rowsHead):]}
	of, seen := d.text(), d.seen()
	if d.bad || of != id {
		return nil
	}
	if now, noted := readNote(b, seen); noted && now.Same(a.Was) || (seen.Sure || a.Wrote) && seen.Stamp.Same(a.Was) {
		return noteOf(seen, a.Now)
	}
	return nil
}
