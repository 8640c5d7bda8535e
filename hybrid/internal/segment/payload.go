package segment

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// maxPayload is the most that a segment or chunk may decompress to: four times the
// largest payload that is ever written.
const maxPayload = 64 << 20

// encoders keeps the tables of encoders, 1.7 MB each. They work without
// goroutines and channels, and so are as good inside of a testing/synctest
// bubble as outside. Decoders are not: each is used once.
var encoders = sync.Pool{New: func() any {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithAllLitEntropyCompression(true), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	return enc
}}

// compress returns data compressed. The same data gives the same bytes.
func compress(data []byte) ([]byte, error) {
	got := encoders.Get()
	enc, ok := got.(*zstd.Encoder)
	if !ok {
		return nil, fmt.Errorf("compress: %v", got)
	}
	defer encoders.Put(enc)
	var out bytes.Buffer
	enc.ResetContentSize(&out, int64(len(data)))
	if _, err := enc.Write(data); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

func expand(data []byte) ([]byte, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload))
	if err != nil {
		return nil, fmt.Errorf("expand: %w", err)
	}
	defer dec.Close()
	out, err := dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return out, nil
}

// join joins rows, each with an LF.
func join(rows []row) []byte {
	var out []byte
	for _, r := range rows {
		out = append(append(out, r.data...), '\n')
	}
	return out
}

var errRows = fmt.Errorf("%w: lines do not fit their number", ErrDamaged)

// split takes apart the result of join. Deltas have the length in their refs, all other
// rows end at their LF. The rows share data's memory.
func split(data []byte, n int, refs []*ref) ([]row, error) {
	rows := make([]row, 0, min(n, len(data)))
	for i := range n {
		r := row{}
		if len(refs) > 0 && refs[0].I == i {
			r.ref, refs = refs[0], refs[1:]
		}
		end := bytes.IndexByte(data, '\n')
		if r.ref != nil && r.ref.Chunks == nil && r.ref.As == asDelta {
			end = int(min(r.ref.Stored, int64(len(data))))
		}
		if end < 0 || end >= len(data) || data[end] != '\n' {
			return nil, errRows
		}
		r.data, data = data[:end:end], data[end+1:]
		rows = append(rows, r)
	}
	if len(data) > 0 || len(refs) > 0 {
		return nil, errRows
	}
	return rows, nil
}

// Text is bytes in a JSON document: a string where that keeps them, an object with their
// base64 otherwise.
type Text []byte

type encoded struct {
	Data []byte `json:"b64"`
}

// MarshalJSON writes t.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(t) && bytes.IndexByte(t, 0) < 0 {
		quoted, err := marshal(string(t))
		if err != nil || len(quoted) < base64.StdEncoding.EncodedLen(len(t))+len(`{"b64":""}`) || len(t) < 64 {
			return quoted, err
		}
	}
	return json.Marshal(encoded{t})
}

// UnmarshalJSON reads the result of MarshalJSON.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		*t = Text(s)
		return err
	}
	var e *encoded
	if err := json.Unmarshal(raw, &e); err != nil || e == nil {
		return errors.New("read text: neither a string nor base64")
	}
	*t = Text(e.Data)
	return nil
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// flush puts the document of the waiting rows, and begins anew.
func (c *Cutter) flush(put func(Document) error) error {
	s, marks := c.open, c.marks
	c.begin()
	return c.encode(s, marks, put)
}

// encode puts the document of s, whose lines end at marks. If it is larger than
// estimated, it becomes several.
func (c *Cutter) encode(s Segment, marks []Mark, put func(Document) error) error {
	if len(s.rows) == 0 {
		return nil
	}
	s.To = marks[len(marks)-1].Point()
	s.ID = ID(c.o.SID, s.Stream, s.From, s.To, c.o.Draw())
	for i, m := range marks {
		s.at = append(s.at, m.Hash[:check]...)
		if r := s.rows[i].ref; r != nil && r.As == asDelta && *r.Base < s.From.N && s.base < 0 {
			s.base = *r.Base
		}
	}
	d, err := s.Document()
	if err != nil {
		return err
	}
	if d.fits(c.o.Cap) || len(s.rows) == 1 {
		return put(d)
	}
	half := len(s.rows) / 2
	one, two := s.halves(half, marks[half-1])
	if err := c.encode(one, marks[:half], put); err != nil {
		return err
	}
	return c.encode(two, marks[half:], put)
}

// halves parts a segment at the place m behind its first n rows.
func (s *Segment) halves(n int, m Mark) (one, two Segment) {
	one, two = *s, *s
	one.at, two.at, one.base, two.base = nil, nil, -1, -1
	two.From, two.Offset = m.Point(), m.Bytes
	one.Bytes = m.Bytes - s.Offset
	two.Bytes = s.Bytes - one.Bytes
	one.rows, two.rows = s.rows[:n:n], s.rows[n:]
	for i := range two.rows {
		if r := two.rows[i].ref; r != nil {
			r.I -= n
		}
	}
	return one, two
}

// A delta makes a line out of a base line: operations that either copy a part of the base
// or bring bytes of their own. An operation begins with a uvarint: its length times two,
// plus one for a copy. A copy continues with the place in the base, as a varint relative
// to the end of the copy before; own bytes follow as they are. Only whole blocks of the
// base are looked for, which is enough for lines that repeat others, and takes a pass
// over both.
const block = 32

var errDelta = errors.New("apply delta: not made for this line")

// appendDelta appends a delta that makes line out of base, and reports whether it has
// fewer bytes than limit; it stops when that is no longer possible.
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
	leave uint64 // the weight of the byte that leaves the window: prime^(block+1)
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

// find returns the first place from i on in line at which there is a block of the text,
// and that block's place; -1 if there is none.
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

// CommonPrefix returns the number of equal bytes at the beginning of a and b.
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

// CommonSuffix returns the number of equal bytes at the end of a and b.
func CommonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// ErrTooLarge is returned for segments that do not fit into one.
var ErrTooLarge = errors.New("larger than a segment may be")

// Merge returns the document of one segment with the lines of several, each of which
// begins where the one before ends. Lines are neither expanded nor checked: damaged lines
// stay damaged. It refuses segments of different sessions, and segments that would be too
// large together.
func Merge(segments []*Segment, nonce string) (Document, error) {
	if len(segments) == 0 {
		return Document{}, errors.New("merge segments: none given")
	}
	first := segments[0]
	out := &Segment{Info: first.Info}
	out.Bytes, out.at, out.base, out.Chunks = 0, nil, -1, nil
	out.To = first.From
	for _, s := range segments {
		if s.From != out.To || s.SID() != out.SID() || s.Stream != out.Stream {
			return Document{}, fmt.Errorf("merge segments: %s does not follow", s.ID)
		}
		out.take(s)
	}
	if out.Bytes > heldMax {
		return Document{}, fmt.Errorf("merge segments: %w", ErrTooLarge)
	}
	out.ID = ID(out.SID(), out.Stream, out.From, out.To, nonce)
	d, err := out.Document()
	if err == nil && !d.fits(Capacity) {
		err = fmt.Errorf("merge segments: %w", ErrTooLarge)
	}
	return d, err
}

// take appends the rows of s to out.
func (out *Segment) take(s *Segment) {
	shift := len(out.rows)
	for _, r := range s.rows {
		if r.ref != nil {
			moved := *r.ref
			moved.I += shift
			r.ref = &moved
		}
		out.rows = append(out.rows, r)
	}
	if out.base < 0 && s.base >= 0 && s.base < out.From.N {
		out.base = s.base
	}
	out.To = s.To
	out.Bytes += s.Bytes
	out.at = append(out.at, s.at...)
}
