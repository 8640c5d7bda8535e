package index

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

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
