package eventslog

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const textSize = 64 << 10 // of a chunk, but for the end of its last line

// slicing is one call of SliceTo. Workers cut the parts of the log, and the
// caller's goroutine writes what they leave, in the order of the parts.
type slicing struct {
	log        *Log
	src        io.ReaderAt
	cut        time.Time
	id, parent []byte // members, see renamer; nil: the ids stay, and a parent without value is the former id
	whole      int64  // up to which size a line is held

	parts *parting
	mu    sync.Mutex      // held while a part is dealt and its channel put in order
	order chan chan chunk // of the parts
	free  chan []byte     // texts to be used again

	skipped atomic.Int64 // lines that are damaged
}

// A chunk is what comes next: a text, and then a range of the log, or an error.
type chunk struct {
	text     []byte
	from, to int64
	edits    []edit // of an object that gets new ids, which the range is
	events   int    // that end in it
	err      error
}

// edit is a change of an object: text, and then a part of the object itself, in the place of
// the bytes from start to end.
type edit struct {
	start, end int64
	text       []byte
	from, to   int64
}

// empty returns a text to be filled.
func (s *slicing) empty() []byte {
	select {
	case text := <-s.free:
		return text
	default:
		return make([]byte, 0, textSize+textSize/16)
	}
}

// deal deals out the next part, with the channel for its chunks.
func (s *slicing) deal(ctx context.Context) (p part, out chan chunk, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok = s.parts.next(); !ok {
		return p, nil, false, nil
	}
	out = make(chan chunk, 2)
	select {
	case s.order <- out:
		return p, out, true, nil
	case <-ctx.Done():
		return p, nil, false, ctx.Err()
	}
}
