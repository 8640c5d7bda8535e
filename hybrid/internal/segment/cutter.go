package segment

import (
	"crypto/sha256"
	"slices"
)

// From is where new lines begin.
type From struct {
	Stream Stream
	Mark   Mark // its N, Hash, Bytes and Turn
	Large  *Large
}

// A Cutter makes documents of the lines of a stream.
type Cutter struct {
	o     Options
	at    Mark // behind the last line
	chain *chain
	base  base

	st    Stream
	open  Segment // the rows taken since the last segment
	marks []Mark  // behind each of them
	size  sizeEstimate
}

// NewCutter returns a cutter of the lines that follow from.
func NewCutter(o Options, from From) *Cutter {
	c := &Cutter{o: o.filled(), at: from.Mark, chain: newChain(sha256.New), st: from.Stream}
	if from.Large != nil {
		c.base = base{Large: *from.Large}
		c.base.Line = slices.Clone(from.Large.Line)
	}
	c.begin()
	return c
}

// At returns where the next lines will begin. Its Large shares memory with the
// cutter.
func (c *Cutter) At() From {
	f := From{Stream: c.st, Mark: c.at}
	if c.base.Line != nil {
		f.Large = &c.base.Large
	}
	return f
}

// begin opens a segment behind the last line.
func (c *Cutter) begin() {
	c.open = Segment{Info: Info{Stream: c.st, From: c.at.Point(), Offset: c.at.Bytes, base: -1}}
	c.open.PK = SessionPK(c.o.SID)
	c.size, c.marks = sizeEstimate{}, nil
}
