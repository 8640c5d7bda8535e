package segment

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
)

// chunkBytes is the longest content of a chunk.
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

// DecodeChunk returns the content of a chunk, which must be the one that its name tells.
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

// A Blob is the content of a small file, byte for byte: in itself when it is
// short, in chunks otherwise. It is part of a head.
type Blob struct {
	Sum    Hash     `json:"h"` // SHA-256 of the content
	Bytes  int64    `json:"bytes"`
	Text   Text     `json:"text,omitempty"`
	Chunks []string `json:"chunks,omitempty"`
}

// inline is the longest content that a blob holds itself.
const inline = 4 << 10

// Pack returns content as a blob of session sid, and yields the documents to
// be stored before it, which are made one by one; content must not change
// until then. The nonce is as drawn by [Options].
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
