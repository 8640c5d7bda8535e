package atomicfile

import (
	"io"
	"os"
)

// RoomFor returns the room for what is about to be written to out, a file or
// what [Dir.Replace] gave, and nil for other writers.
func RoomFor(out io.Writer) *Room {
	switch w := out.(type) {
	case *os.File:
		return newRoom(w)
	case *writer:
		return newRoom(w.file)
	}
	return nil
}

// Reserve reserves the place of the next n bytes that are written to out; see
// [RoomFor]. A few are not worth it.
func Reserve(out io.Writer, n int64) {
	if n >= early {
		RoomFor(out).Reserve(n)
	}
}
