package index

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

const rowsHead = "sessionstore rows\x00\x06"

// A rows file begins with a note, of noteSize bytes: the stamp of the transcript after
// appends of this library, and the hash of this stamp and of the stamp at which the rows
// were read. Zeros are no note.
const (
	noteStamp = 7 * binary.MaxVarintLen64 // at most
	noteSize  = noteStamp + sumSize
)

// noteOf returns the note that a transcript was seen, and that only appends of
// this library came between that and its stamp now.
func noteOf(seen Seen, now vfs.Stamp) []byte {
	c := codec{writes: true, b: make([]byte, 0, noteSize)}
	c.stamp(&now)
	b := c.b[:noteStamp]
	return appendSum(b, noteSum(b, seen))
}

func noteSum(stamp []byte, seen Seen) xxh3.Uint128 {
	c := codec{writes: true, b: stamp[:noteStamp:noteStamp]}
	c.seen(&seen)
	return xxh3.Hash128Seed(c.b, Rules)
}

// readNote returns the stamp in a note about a transcript that was seen. ok is
// false if b is no such note.
func readNote(b []byte, seen Seen) (now vfs.Stamp, ok bool) {
	if sumIn(b[noteStamp:]) != noteSum(b, seen) {
		return vfs.Stamp{}, false
	}
	c := codec{b: b[:noteStamp]}
	c.stamp(&now)
	return now, !c.bad
}

// maxSeen is the greatest length of the beginning of a rows file that ends with the state
// to which its note belongs.
const maxSeen = noteSize + len(rowsHead) + 2*binary.MaxVarintLen64 + 256 + 7*binary.MaxVarintLen64 + 1

// noteIn returns the note to write to the beginning of the rows file that begins with b,
// after an append. It returns nil when the file is about another state, or may be about
// an older state with the same stamp.
func noteIn(b []byte, id string, a Append) []byte {
	if len(b) < noteSize+len(rowsHead) || string(b[noteSize:noteSize+len(rowsHead)]) != rowsHead {
		return nil
	}
	c, of, seen := codec{b: b[noteSize+len(rowsHead):]}, "", Seen{}
	c.text(&of)
	c.seen(&seen)
	if c.bad || of != id {
		return nil
	}
	if now, noted := readNote(b, seen); noted && now.Same(a.Was) || (seen.Sure || a.Wrote) && seen.Stamp.Same(a.Was) {
		return noteOf(seen, a.Now)
	}
	return nil
}

// Append is a writer's record of its own append.
type Append struct {
	Was, Now vfs.Stamp // of the transcript
	Wrote    bool      // the writer gave the file the time in Was, so no other content has that stamp
}
