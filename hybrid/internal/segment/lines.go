package segment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"slices"
)

// Lines yields the lines of stream s between two points, without their LF, and reads the
// documents that it needs from src. A line is yielded after the hashes of its segment
// have been checked; it is valid until the next line, and must not be changed. A damaged
// segment is passed over where others hold its lines. The error is the last thing
// yielded: a [GapError], which includes the damage, [ErrOffside], an [ErrFormat], or an
// error of src.
//
// To read on from a point inside of a log, infos may have to reach back to the line that
// the first delta needs; with large, which is that line on this device, they need not. It
// is used when it fits, and may be nil.
//
// Lines holds in memory the lines of one segment (8 MB, or one longer line) and one long
// line.
func Lines(src Source, s Stream, infos []Info, from, tip Point, large *Large) iter.Seq2[[]byte, error] {
	r := &reader{src: src, st: s, infos: slices.Clone(infos), at: from, tip: tip, chain: newChain(sha256.New)}
	if large != nil {
		r.kept = kept{n: large.N, line: large.Line, lent: true}
	}
	return func(yield func([]byte, error) bool) {
		r := *r // each loop from the beginning
		for r.at != tip {
			lines, err := r.next()
			if err != nil {
				yield(nil, err)
				return
			}
			for _, line := range lines {
				if !yield(line, nil) {
					return
				}
			}
		}
	}
}

// next returns the lines of the next segment. After damage it looks for
// another way.
func (r *reader) next() ([][]byte, error) {
	for {
		if len(r.spans) == 0 {
			spans, err := Tile(r.st, r.infos, r.at, r.tip)
			if gap := (*GapError)(nil); errors.As(err, &gap) {
				gap.Damage = r.damage
			}
			if err != nil {
				return nil, err
			}
			r.spans = spans
		}
		span := r.spans[0]
		lines, err := r.read(&span)
		if err == nil {
			r.spans = r.spans[1:]
			return lines, nil
		}
		if !errors.Is(err, ErrDamaged) {
			return nil, fmt.Errorf("read segment %s: %w", span.ID, err)
		}
		if r.kept.lent {
			r.kept = kept{}
			continue
		}
		if !errors.As(err, &r.damage) || !r.has(r.damage.ID) {
			r.damage = r.damaged(&span.Info, err)
		}
		r.infos = slices.DeleteFunc(slices.Clone(r.infos), func(in Info) bool { return in.ID == r.damage.ID })
		r.spans = nil
	}
}

// read returns the lines of a span behind the lines that were read before.
func (r *reader) read(span *Span) ([][]byte, error) {
	s, err := load(r.src, &span.Info)
	if err != nil {
		return nil, err
	}
	p, k, skipped := span.From, r.kept, 0
	lines := make([][]byte, 0, len(s.rows))
	for i := range s.rows[:span.Upto.N-span.From.N] {
		if p.N == r.at.N && p != r.at {
			return nil, fmt.Errorf("%w: another history", ErrDamaged)
		}
		line, err := r.line(s, i, k)
		if err != nil {
			return nil, err
		}
		if ref := s.rows[i].ref; ref != nil && ref.As != "" {
			k = kept{n: p.N, line: line, part: ref.Chunks == nil && ref.As == asKey}
		}
		if p.N < r.at.N {
			skipped++
		}
		p = r.chain.add(p, line)
		lines = append(lines, line)
	}
	if p != span.Upto {
		return nil, fmt.Errorf("%w: lines and hash differ", ErrDamaged)
	}
	r.at = p
	if k.n != r.kept.n || r.kept.line == nil {
		r.kept = kept{n: k.n, line: k.line}
		if k.part {
			r.kept.line = slices.Clone(k.line)
		}
	}
	return lines[skipped:], nil
}

// line returns the line of a row. A delta is applied to the line k when it was made with
// that line, and otherwise to a line that is read for it.
func (r *reader) line(s *Segment, i int, k kept) ([]byte, error) {
	row := &s.rows[i]
	data, err := stored(r.src, s, row)
	if err != nil || row.ref == nil || row.ref.As != asDelta {
		return data, err
	}
	if k.line == nil || k.n != *row.ref.Base {
		if k.line, err = r.record(s, *row.ref.Base); err != nil {
			return nil, err
		}
	}
	return apply(k.line, data, row.ref)
}

// chunkBytes is the greatest length of the content of a chunk.
const chunkBytes = 512 << 10

// chunks names the chunks of size bytes and less that data is cut into, and
// yields their documents, which are made one by one.
func chunks(sid, pk string, data []byte, size int, nonce string) (names []string, docs iter.Seq2[Document, error]) {
	for part := range slices.Chunk(data, size) {
		names = append(names, chunkName(part, nonce))
	}
	return names, func(yield func(Document, error) bool) {
		i := 0
		for part := range slices.Chunk(data, size) {
			d, err := chunkOf(sid, pk, names[i], part)
			if !yield(d, err) || err != nil {
				return
			}
			i++
		}
	}
}

func chunkOf(sid, pk, name string, part []byte) (Document, error) {
	body, err := compress(part)
	if err != nil {
		return Document{}, fmt.Errorf("encode chunk: %w", err)
	}
	return Document{ID: ChunkID(sid, name), PK: pk, Type: TypeChunk, Label: Label(TypeChunk), Body: body}, nil
}

// DecodeChunk returns the content of a chunk, which must match the hash in its name.
// Errors are as of [DecodeInfo].
func DecodeChunk(d Document) ([]byte, error) {
	if err := Probe(d.Label, TypeChunk); err != nil {
		return nil, fmt.Errorf("decode chunk: %w", err)
	}
	data, err := expand(d.Body)
	if err != nil {
		return nil, fmt.Errorf("decode chunk: %w", err)
	}
	if id := d.ID; len(id) < 40 || chunkName(data, id[len(id)-nonceLen:]) != id[len(id)-40:] {
		return nil, fmt.Errorf("decode chunk: %w: content and id differ", ErrDamaged)
	}
	return data, nil
}

// A Blob is the content of a small file, byte for byte: inline when it is short, in
// chunks otherwise. It is part of a head.
type Blob struct {
	Sum    Hash     `json:"h"` // SHA-256 of the content
	Bytes  int64    `json:"bytes"`
	Text   Text     `json:"text,omitempty"`
	Chunks []string `json:"chunks,omitempty"`
}

// inline is the greatest length of the content that a blob holds itself.
const inline = 4 << 10

// Pack returns content as a blob of session sid, and yields the documents to store before
// it, which are made one by one; content must not change until then. The nonce is as
// drawn by [Options].
func Pack(sid string, content []byte, nonce string) (Blob, iter.Seq2[Document, error]) {
	b := Blob{Sum: sha256.Sum256(content), Bytes: int64(len(content))}
	if len(content) <= inline {
		b.Text = slices.Clone(content)
		return b, func(func(Document, error) bool) {}
	}
	names, docs := chunks(sid, SessionPK(sid), content, chunkBytes, nonce)
	b.Chunks = names
	return b, docs
}

// Documents names the chunks of a blob that session sid refers to.
func (b *Blob) Documents(sid string) (pk string, ids []string) {
	for _, name := range b.Chunks {
		ids = append(ids, ChunkID(sid, name))
	}
	return SessionPK(sid), ids
}

// Unpack returns the content of a blob of session sid. It asks get for the
// documents.
func (b *Blob) Unpack(sid string, get func(pk, id string) (Document, error)) ([]byte, error) {
	data := slices.Clone(b.Text)
	pk, ids := b.Documents(sid)
	for i, id := range ids {
		d, err := get(pk, id)
		if err != nil {
			return nil, fmt.Errorf("read chunk %s: %w", id, err)
		}
		part, err := DecodeChunk(d)
		if err != nil {
			return nil, err
		}
		if i == 0 { // all but the last are as long
			data = slices.Grow(data, int(max(0, min(b.Bytes, int64(len(part))*int64(len(ids))))))
		}
		if data = append(data, part...); int64(len(data)) > b.Bytes {
			break
		}
	}
	if int64(len(data)) != b.Bytes || sha256.Sum256(data) != b.Sum {
		return nil, fmt.Errorf("read file: %w: content and hash differ", ErrDamaged)
	}
	return data, nil
}

// Hash is the running SHA-256 over the lines of a stream up to some record.
type Hash [sha256.Size]byte

// String returns h as 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 32 digits of String.
func (h Hash) Short() string { return hex.EncodeToString(h[:16]) }

// IsZero reports whether h is the zero value, which is no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText returns the digits of String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the text of String, and nothing else.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHash(string(text))
	return err
}

// ParseHash reads 64 lower-case hexadecimal digits.
func ParseHash(s string) (h Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) || hex.EncodeToString(b) != s {
		return h, errors.New("parse hash: not 64 lower-case hexadecimal digits")
	}
	return Hash(b), nil
}

// A Point names a history: its number of records and the hash over them.
// Points are equal when the histories are.
type Point struct {
	N    int64 `json:"n"`
	Hash Hash  `json:"h"`
}

// Origin is the point before the first line of a stream. It depends on the
// kind of the stream alone: the same lines have the same hashes in each session.
func Origin(s Stream) Point {
	return Point{Hash: sha256.Sum256([]byte("amplifier-sync/1\x00" + s.Kind().String()))}
}

// Add returns the point behind a line that follows p. The line comes without its LF and
// in its sent form, which is after redaction.
func (p Point) Add(line []byte) Point {
	return Point{N: p.N + 1, Hash: newChain(sha256.New).next(p.Hash, line)}
}

// A chain computes running hashes without allocating.
type chain struct {
	h   hash.Hash
	buf [sha256.Size + binary.MaxVarintLen64]byte
}

func newChain(h func() hash.Hash) *chain { return &chain{h: h()} }

// newKeyed returns a chain of HMACs: its hashes reveal nothing about the lines without
// the key.
func newKeyed(key []byte) *chain {
	return newChain(func() hash.Hash { return hmac.New(sha256.New, key) })
}

// next returns the hash behind line when prev is the hash before it.
func (c *chain) next(prev Hash, line []byte) (out Hash) {
	copy(c.buf[:], prev[:])
	size := binary.PutUvarint(c.buf[len(prev):], uint64(len(line)))
	c.h.Reset()
	c.h.Write(c.buf[:len(prev)+size])
	c.h.Write(line)
	c.h.Sum(out[:0])
	return out
}

func (c *chain) add(p Point, line []byte) Point { return Point{N: p.N + 1, Hash: c.next(p.Hash, line)} }
