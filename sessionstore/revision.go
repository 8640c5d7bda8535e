package sessionstore

import "github.com/zeebo/xxh3"

// Revision identifies the content of a transcript. Two equal revisions are
// the same bytes.
type Revision struct {
	Messages int
	Bytes    int64
	Sum      [16]byte // XXH3-128 of the bytes
}

func revisionOf(rows int, data []byte) Revision {
	return Revision{Messages: rows, Bytes: int64(len(data)), Sum: xxh3.Hash128(data).Bytes()}
}
