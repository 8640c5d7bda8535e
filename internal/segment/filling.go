package segment

import (
	"encoding/base64"
	"fmt"
)

// filling estimates, from above, how large the document of the open segment
// will be. Rows count with their full size until they have been measured.
type filling struct {
	fixed      int // summaries, descriptions, text
	measured   int // bytes, compressed
	unmeasured int // bytes, not compressed
	rows       int // that were measured
}

const (
	headBytes = 900 // of a document without rows: ids, hashes, names of members
	refBytes  = 220 // of a description, at most, without chunks
)

// rowBytes returns what a row adds to a document, besides what is compressed.
func rowBytes(r *row, raw bool) int {
	n := base64.StdEncoding.EncodedLen(check) + 1
	if r.ref != nil {
		n += refBytes + len(r.ref.Chunks)*(len(`"",`)+40)
	}
	if raw {
		n += base64.StdEncoding.EncodedLen(len(r.data)) + len(`{"b64":""},`) + 64*6
	}
	return n
}

func (f *filling) add(r *row, b *Block, raw bool) {
	f.fixed += rowBytes(r, raw) + b.bytes()
	if !raw {
		f.unmeasured += len(r.data) + 1
	}
}

// bytes returns how long b is as JSON, at most.
func (b *Block) bytes() int {
	n := 128
	for _, all := range [][]string{{b.Role, b.Event, b.Status, b.Time}, b.Tools, b.Calls} {
		for _, s := range all {
			n += 4 + len(s)
			for i := range len(s) {
				if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
					n += 5
				}
			}
		}
	}
	return n
}

// most returns how many bytes the document has with further bytes of payload.
func (f *filling) most(more int) int {
	payload := f.measured + f.unmeasured + more
	return headBytes + f.fixed + base64.StdEncoding.EncodedLen(payload+payload/128+64)
}

// fits reports whether a row may join the open segment.
func (c *Cutter) fits(r *row) (bool, error) {
	room := c.o.Cap - c.o.Cap/20 - rowBytes(r, c.o.Raw) - 4*maxName*maxNames
	more := len(r.data) + 1
	if c.o.Raw {
		more = 0
	}
	if c.fill.most(more) <= room {
		return true, nil
	}
	err := c.measure()
	return c.fill.most(more) <= room, err
}

// measure compresses the rows that have not been, to know their size.
func (c *Cutter) measure() error {
	if c.fill.unmeasured == 0 {
		return nil
	}
	data, err := compress(join(c.open.rows[c.fill.rows:]))
	if err != nil {
		return fmt.Errorf("measure segment: %w", err)
	}
	c.fill.measured += len(data)
	c.fill.unmeasured, c.fill.rows = 0, len(c.open.rows)
	return nil
}
