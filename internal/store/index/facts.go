package index

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Seen tells that a file was looked at.
type Seen struct {
	Stamp vfs.Stamp // before it was read
	Sure  bool      // a later change is sure to show in the stamp
}

// Fits reports whether the file with the stamp now is sure to be as it was.
func (s Seen) Fits(now vfs.Stamp) bool { return s.Sure && s.Stamp.Same(now) }

func (s Seen) append(b []byte) []byte { return appendBool(appendStamp(b, s.Stamp), s.Sure) }

func (d *decoder) seen() Seen { return Seen{d.stamp(), d.bool()} }

// Facts are what a pass over a transcript counts.
type Facts struct {
	Size       int64 // of the transcript
	Messages   int
	Turns      int // user messages without results
	Prompts    int // messages that a person wrote
	Unanswered int // ids of calls that no later message answers
	Prompt     Line
}

// Line is where the first prompt with text stands. The zero Line is none.
type Line struct {
	At, Size int64 // without its LF
	Sum      xxh3.Uint128
}

func (f *Facts) append(b []byte) []byte {
	for _, n := range [...]int64{f.Size, int64(f.Messages), int64(f.Turns), int64(f.Prompts), int64(f.Unanswered), f.Prompt.At, f.Prompt.Size} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return appendSum(b, f.Prompt.Sum)
}

func (d *decoder) facts() (f Facts) {
	f.Size = int64(d.uint())
	f.Messages, f.Turns, f.Prompts, f.Unanswered = d.number(), d.number(), d.number(), d.number()
	f.Prompt = Line{int64(d.uint()), int64(d.uint()), d.sum()}
	if p := f.Prompt; f.Size < 0 || p.At < 0 || p.Size < 0 || p.At > f.Size || p.Size > f.Size-p.At {
		d.fail()
	}
	return f
}
