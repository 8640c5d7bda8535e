package index

import (
	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Seen is the state of a file when it was read.
type Seen struct {
	Stamp vfs.Stamp // before it was read
	Sure  bool      // a later change is sure to show in the stamp
}

// Fits reports whether the file with the stamp now is sure to be unchanged.
func (s Seen) Fits(now vfs.Stamp) bool { return s.Sure && s.Stamp.Same(now) }

func (c *codec) seen(s *Seen) {
	c.stamp(&s.Stamp)
	c.bool(&s.Sure)
}

// Facts are the counts of a pass over a transcript.
type Facts struct {
	Size       int64 // of the transcript
	Messages   int
	Turns      int // user messages without results
	Prompts    int // messages that a person wrote
	Unanswered int // ids of calls that no later message answers
	Prompt     Line
}

// Line is the place of the first prompt with text. The zero Line is none.
type Line struct {
	At, Size int64 // without its LF
	Sum      xxh3.Uint128
}

func (c *codec) facts(f *Facts) {
	p := &f.Prompt
	for _, n := range [...]*int{&f.Messages, &f.Turns, &f.Prompts, &f.Unanswered} {
		if number(c, n); *n < 0 {
			c.fail()
		}
	}
	for _, n := range [...]*int64{&f.Size, &p.At, &p.Size} {
		if number(c, n); *n < 0 {
			c.fail()
		}
	}
	if c.sum(&p.Sum); p.At > f.Size || p.Size > f.Size-p.At {
		c.fail()
	}
}
