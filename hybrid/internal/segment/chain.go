package segment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
)

// Hash is the running SHA-256 over the lines of a stream up to some record.
type Hash [sha256.Size]byte

// String returns h as 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 32 digits, which is what ids of documents hold.
func (h Hash) Short() string { return hex.EncodeToString(h[:16]) }

// IsZero reports whether h is no hash of anything.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText returns what String does.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what String returns, and nothing else.
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

// Add returns the point behind a line that follows p. The line comes without
// its LF and as it leaves the device, which is after redaction.
func (p Point) Add(line []byte) Point {
	return Point{N: p.N + 1, Hash: newChain(sha256.New).next(p.Hash, line)}
}

// A chain computes running hashes without allocating.
type chain struct {
	h   hash.Hash
	buf [sha256.Size + binary.MaxVarintLen64]byte
}

func newChain(h func() hash.Hash) *chain { return &chain{h: h()} }

// newKeyed returns a chain of HMACs: its hashes tell nothing about the lines to
// those who do not have the key.
func newKeyed(key []byte) *chain {
	return newChain(func() hash.Hash { return hmac.New(sha256.New, key) })
}

// next returns the hash behind line when prev is the one before it.
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
