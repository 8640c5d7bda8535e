package index

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// block is what there is to know about BlockSize bytes, of the last block
// fewer.
type block struct {
	sum   xxh3.Uint128
	first uint32 // where in the block its first line begins; BlockSize: none does
	rows  int    // messages in lines that begin before the end of the block, from the first block on
	turns int    // turns that begin in these lines

	prefix Prefix // of these messages
}

// blockBytes is how many bytes a block takes in a rows file.
const blockBytes = sumSize + 3*4 + sumSize

func (k block) append(b []byte) []byte {
	b = appendSum(b, k.sum)
	for _, n := range [...]int{int(k.first), k.rows, k.turns} {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return appendSum(b, xxh3.Uint128(k.prefix))
}

func readBlock(b []byte) block {
	d := &decoder{rest: b}
	k := block{sum: d.sum()}
	n := d.bytes(3 * 4)
	k.first, k.rows, k.turns = binary.BigEndian.Uint32(n), int(binary.BigEndian.Uint32(n[4:])), int(binary.BigEndian.Uint32(n[8:]))
	k.prefix = Prefix(d.sum())
	return k
}

// blocks are those of one transcript. A transcript has many of them, and whoever
// reads a part of it needs a few: so they stay as they stand in the file until
// somebody asks for one.
type blocks struct {
	file []byte  // the first ones; never changed
	made []block // those after them
}

func (s *blocks) inFile() int { return len(s.file) / blockBytes }
func (s *blocks) len() int    { return s.inFile() + len(s.made) }

func (s *blocks) at(i int) block {
	if n := s.inFile(); i >= n {
		return s.made[i-n]
	}
	return readBlock(s.file[i*blockBytes:][:blockBytes])
}

// last returns the last block, to be changed.
func (s *blocks) last() *block { return &s.made[len(s.made)-1] }

func (s *blocks) append(b []byte) []byte {
	b = append(b, s.file...)
	for _, k := range s.made {
		b = k.append(b)
	}
	return b
}

// readBlocks returns the blocks in b. The last one can be changed.
func readBlocks(b []byte) blocks {
	if len(b) == 0 {
		return blocks{}
	}
	end := len(b) - blockBytes
	return blocks{file: b[:end:end], made: []block{readBlock(b[end:])}}
}
