package record

import (
	"bytes"
	"maps"
	"slices"
)

// Block is the size of the blocks in which an [Image] is kept.
const Block = 4096

// An Image is the content of a disk: its blocks that are not zero, by number. A block is
// never changed in place: images share them.
type Image map[int64][]byte

// Clone returns a copy that can be changed on its own.
func (m Image) Clone() Image { return maps.Clone(m) }

var zeros [Block]byte

// Apply applies e to the disk.
func (m Image) Apply(e Entry) {
	switch e.Kind {
	case Write:
		for off, b := e.Off, e.Data; len(b) > 0; {
			n := min(int64(len(b)), Block-off%Block)
			m.put(off, b[:n])
			off, b = off+n, b[n:]
		}
	case Zero:
		m.zero(e.Off, e.Off+e.Len)
	}
}

// put writes b, which lies within one block.
func (m Image) put(off int64, b []byte) {
	if len(b) == Block && bytes.Equal(b, zeros[:]) {
		delete(m, off/Block)
		return
	}
	changed := make([]byte, Block)
	copy(changed, m[off/Block])
	copy(changed[off%Block:], b)
	m[off/Block] = changed
}

// zero clears the range from off to end.
func (m Image) zero(off, end int64) {
	if end-off > 8<<20 { // it has more blocks than the image
		for _, k := range slices.Collect(maps.Keys(m)) {
			m.zeroIn(k, max(off, k*Block), min(end, (k+1)*Block))
		}
		return
	}
	for ; off < end; off += Block - off%Block {
		k := off / Block
		m.zeroIn(k, off, min(end, (k+1)*Block))
	}
}

// zeroIn clears the part of the range from off to end that is in block k.
func (m Image) zeroIn(k, off, end int64) {
	b := m[k]
	if b == nil || off >= end {
		return
	}
	changed := slices.Clone(b)
	clear(changed[off-k*Block : end-k*Block])
	m[k] = changed
}
