package segment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Documents yields the documents of lines, which come without LF: the chunks
// that a segment needs, then the segment. Rows that were not yielded because
// the loop broke or a line had an error are lost for this cutter. It holds one
// segment, one chunk, the last long line of an event log, and the line at hand;
// of a line it keeps no memory that it was given.
func (c *Cutter) Documents(lines iter.Seq2[[]byte, error]) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		err := c.cut(lines, func(d Document) error {
			if !yield(d, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Document{}, err)
		}
	}
}

// errStopped tells that nobody wants further documents.
var errStopped = errors.New("stopped")

// cut puts the documents of lines.
func (c *Cutter) cut(lines iter.Seq2[[]byte, error], put func(Document) error) error {
	for line, err := range lines {
		if err == nil {
			err = c.add(line, put)
		}
		if err != nil {
			return err
		}
	}
	return c.flush(put)
}

// add takes a line and puts what must be stored because of it.
func (c *Cutter) add(line []byte, put func(Document) error) error {
	if len(line) > MaxLine {
		return fmt.Errorf("cut line %d of stream %s: longer than 1 GiB", c.at.N, c.st)
	}
	r := c.base.row(c.st, c.at.N, line)
	long := len(r.data) > min(inlineMax, c.o.Cap/3)
	if err := c.makeRoom(&r, len(line), long, put); err != nil {
		return err
	}
	if long {
		if err := c.outsource(&r, len(line), put); err != nil {
			return err
		}
	}
	c.push(line, r)
	if c.size.upperBound(0) < c.o.Target {
		return nil
	}
	if err := c.measure(); err != nil || c.size.upperBound(0) < c.o.Target {
		return err
	}
	return c.flush(put)
}

// makeRoom ends the open segment when a row does not fit into it.
func (c *Cutter) makeRoom(r *row, size int, long bool, put func(Document) error) error {
	if len(c.open.rows) == 0 {
		return nil
	}
	fits := c.open.Bytes+int64(size) < heldMax && headBytes+c.size.label+labelBytes(r) <= labelMax
	if fits && !long {
		var err error
		if fits, err = c.fits(r); err != nil {
			return err
		}
	}
	if fits {
		return nil
	}
	return c.flush(put)
}

// fits reports whether a row may join the open segment.
func (c *Cutter) fits(r *row) (bool, error) {
	room := c.o.Cap - c.o.Cap/20 - rowBytes(r)
	more := len(r.data) + 1
	if c.size.upperBound(more) <= room {
		return true, nil
	}
	err := c.measure()
	return c.size.upperBound(more) <= room, err
}

// measure compresses the rows that have not been, to know their size.
func (c *Cutter) measure() error {
	if c.size.unmeasured == 0 {
		return nil
	}
	data, err := compress(join(c.open.rows[c.size.rows:]))
	if err != nil {
		return fmt.Errorf("measure segment: %w", err)
	}
	c.size.measured += len(data)
	c.size.unmeasured, c.size.rows = 0, len(c.open.rows)
	return nil
}

// chunkSize returns how many bytes the chunks of a row of so many bytes have.
func (c *Cutter) chunkSize(n int) int { return max(min(chunkBytes, c.o.Cap/2), n/maxChunks+1) }

// outsource moves what a row holds into chunks.
func (c *Cutter) outsource(r *row, size int, put func(Document) error) error {
	names, docs := chunks(c.o.SID, c.open.PK, r.data, c.chunkSize(len(r.data)), c.o.Draw())
	for d, err := range docs {
		if err == nil {
			err = put(d)
		}
		if err != nil {
			return err
		}
	}
	if r.ref == nil {
		r.ref = &ref{Bytes: int64(size)}
	}
	sum := Hash(sha256.Sum256(r.data))
	r.ref.Sum, r.ref.Chunks, r.data = &sum, names, nil
	return nil
}

// push puts a row behind those that wait.
func (c *Cutter) push(line []byte, r row) {
	if c.st.Kind() == KindTranscript && beginsTurn(line) {
		c.at.Turn++
	}
	if c.st == Transcript {
		c.open.blocks = append(c.open.blocks, BlockOf(line))
	}
	if r.ref != nil {
		r.ref.I = len(c.open.rows)
	}
	p := c.chain.add(c.at.Point(), line)
	c.at.N, c.at.Hash = p.N, p.Hash
	c.at.Bytes += int64(len(line)) + 1
	c.open.Bytes += int64(len(line)) + 1
	c.marks = append(c.marks, c.at)
	c.open.rows = append(c.open.rows, row{slices.Clone(r.data), r.ref})
	c.size.add(&r)
}
