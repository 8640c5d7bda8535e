package index

import (
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// A rows file begins with a note, of noteSize bytes: the stamp of the transcript
// after appends of this library, and the hash of that and of the stamp at which
// the rows were read. Zeros are no note.
const (
	noteStamp = 5 * 8
	noteSize  = noteStamp + sumSize
)

// noteOf returns the note that a transcript was seen, and that only appends of
// this library came between that and its stamp now.
func noteOf(seen Seen, now vfs.Stamp) []byte {
	b := make([]byte, 0, noteSize)
	for _, n := range [...]uint64{now.Dev, now.Inode, uint64(now.Size), uint64(now.Mtime.UnixNano()), uint64(now.Ctime.UnixNano())} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return appendSum(b, noteSum(b, seen))
}

func noteSum(stamp []byte, seen Seen) xxh3.Uint128 {
	return xxh3.Hash128Seed(seen.append(stamp[:noteStamp:noteStamp]), Rules)
}

// readNote returns the stamp in a note about a transcript that was seen. ok is
// false if b is no such note.
func readNote(b []byte, seen Seen) (now vfs.Stamp, ok bool) {
	d := &decoder{rest: b[noteStamp:noteSize]}
	if d.sum() != noteSum(b, seen) {
		return vfs.Stamp{}, false
	}
	n := func(i int) uint64 { return binary.BigEndian.Uint64(b[i*8:]) }
	at := func(i int) time.Time { return time.Unix(0, int64(n(i))).UTC() }
	return vfs.Stamp{Dev: n(0), Inode: n(1), Size: int64(n(2)), Mtime: at(3), Ctime: at(4)}, true
}

// Append is what a writer knows of an append that it made.
type Append struct {
	Was, Now vfs.Stamp // of the transcript
	Wrote    bool      // the writer gave the file the time in Was, so no other content has that stamp
}
