package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// A delta makes a line out of a base line: operations that either copy a part
// of the base or bring bytes of their own. An operation begins with a uvarint:
// its length times two, plus one for a copy. A copy goes on with the place in
// the base, as a varint relative to the end of the copy before; own bytes
// follow as they are. Only whole blocks of the base are looked for, which is
// enough for lines that repeat others, and takes a pass over both.
const block = 32

var errDelta = errors.New("apply delta: not made for this line")

// appendDelta appends a delta that makes line out of base, and reports whether
// it has fewer bytes than limit; it stops when that cannot be.
func appendDelta(dst, base, line []byte, limit int) ([]byte, bool) {
	ix := newIndex(base)
	d := delta{out: dst, base: base, line: line, limit: len(dst) + limit}
	if n := CommonPrefix(base, line); n >= block {
		d.copy(0, 0, n)
	}
	for i := d.done; d.limit > 0; {
		var at int
		if i, at = ix.find(line, i); i < 0 {
			break
		}
		n := CommonPrefix(base[at:], line[i:])
		back := CommonSuffix(base[:at], line[d.done:i])
		d.copy(i-back, at-back, n+back)
		i = d.done
	}
	d.literal(len(line))
	return d.out, len(d.out) < d.limit
}

type delta struct {
	out, base, line []byte
	done            int // of line
	end             int // of the last copy, in base
	limit           int // of out
}

func (d *delta) literal(to int) {
	if len(d.out)+to-d.done >= d.limit {
		d.limit, d.done = 0, to
	}
	if to > d.done {
		d.out = binary.AppendUvarint(d.out, uint64(to-d.done)<<1)
		d.out = append(d.out, d.line[d.done:to]...)
		d.done = to
	}
}

func (d *delta) copy(from, at, n int) {
	d.literal(from)
	d.out = binary.AppendUvarint(d.out, uint64(n)<<1|1)
	d.out = binary.AppendVarint(d.out, int64(at-d.end))
	d.done, d.end = from+n, at+n
}

// applyDelta appends to dst the line of size bytes that d makes out of base.
func applyDelta(dst, base, d []byte, size int64) ([]byte, error) {
	end, left := int64(0), size
	for len(d) > 0 {
		head, n := binary.Uvarint(d)
		if n <= 0 || head>>1 > uint64(left) {
			return dst, errDelta
		}
		d = d[n:]
		length := int64(head >> 1)
		left -= length
		if head&1 == 0 {
			if length > int64(len(d)) {
				return dst, errDelta
			}
			dst, d = append(dst, d[:length]...), d[length:]
			continue
		}
		by, n := binary.Varint(d)
		at := end + by
		if n <= 0 || at < 0 || at > int64(len(base)) || length > int64(len(base))-at {
			return dst, errDelta
		}
		d, end = d[n:], at+length
		dst = append(dst, base[at:end]...)
	}
	if left != 0 {
		return dst, errDelta
	}
	return dst, nil
}

// An index finds blocks of a text by a rolling hash over them.
type index struct {
	text  []byte
	slots []int32 // 1 + number of the block with this hash, the first one
	shift uint
	leave uint64 // what the byte that leaves the window counts: prime^(block+1)
}

const (
	prime = 0x9E3779B97F4A7C15
	mix   = 0xD6E8FEB86659FD93
)

func newIndex(text []byte) *index {
	size := bits.Len(uint(len(text)/block)) + 1
	ix := &index{text: text, slots: make([]int32, 1<<size), shift: uint(64 - size), leave: prime}
	for range block {
		ix.leave *= prime
	}
	for i := 0; i+block <= len(text); i += block {
		slot := &ix.slots[ix.slot(sum(text[i:]))]
		if *slot == 0 {
			*slot = int32(i/block) + 1
		}
	}
	return ix
}

func (ix *index) slot(h uint64) uint64 { return (h * mix) >> ix.shift }

func sum(text []byte) (h uint64) {
	for _, b := range text[:block] {
		h = (h + uint64(b) + 1) * prime
	}
	return h
}

// find returns the first place from i on in line at which a block of the text
// stands, and that block's place; -1 if there is none.
func (ix *index) find(line []byte, i int) (found, at int) {
	if i+block > len(line) {
		return -1, 0
	}
	for h := sum(line[i:]); ; i++ {
		if slot := ix.slots[ix.slot(h)]; slot > 0 {
			at := int(slot-1) * block
			if bytes.Equal(ix.text[at:at+block], line[i:i+block]) {
				return i, at
			}
		}
		if i+block >= len(line) {
			return -1, 0
		}
		h = (h+uint64(line[i+block])+1)*prime - (uint64(line[i])+1)*ix.leave
	}
}

// CommonPrefix returns how many bytes at the beginning of a and b agree.
func CommonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// CommonSuffix returns how many bytes at the end of a and b agree.
func CommonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
