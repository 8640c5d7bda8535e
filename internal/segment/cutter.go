package segment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Options say how lines are cut. The zero value of each number is its default.
type Options struct {
	SID    string
	Raw    bool  // lines as text that queries can search, instead of compressed
	Target int   // bytes of a document at which the next begins: 64 KB
	Cap    int   // bytes that no segment exceeds: 1.0 MB; after a refusal for its size, half of it
	Size   int64 // bytes that will come, when it is known: what fits into two documents is not cut finer
}

const (
	target    = 64 << 10
	capacity  = 1000 << 10
	twoDocs   = 1100 << 10 // of lines up to inlineMax, however they compress
	inlineMax = 256 << 10  // longer lines and deltas lie in chunks
	heldMax   = 8 << 20    // bytes of the lines of a segment, unless it has only one
	largeMin  = 8 << 10    // longer lines may become deltas
)

func (o Options) filled() Options {
	if o.Cap == 0 {
		o.Cap = capacity
	}
	if o.Target == 0 {
		o.Target = target
		if o.Size > 0 && o.Size <= twoDocs {
			o.Target = o.Cap
		}
	}
	o.Cap = max(o.Cap, target)
	o.Target = min(o.Target, o.Cap)
	return o
}

// From is where new lines begin.
type From struct {
	Stream Stream
	Mark   Mark // its N, Hash, Bytes and Turn
	Large  *Large
}

// A Large is the line that the next long line of an event log is compared
// with. Without it nothing is lost: one line is stored whole.
type Large struct {
	N      int64  `json:"n"` // its record
	Line   []byte `json:"-"` // as it leaves
	Since  int64  `json:"since"`
	Wasted int64  `json:"wasted"`
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
	fill  filling
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

// begin opens a segment behind the last line.
func (c *Cutter) begin() {
	c.open = Segment{Info: Info{Stream: c.st, From: c.at.Point(), Offset: c.at.Bytes, base: -1}, raw: c.o.Raw}
	c.open.PK = StreamPK(c.o.SID, c.st, Bucket(c.at.N, c.at.Bytes))
	c.fill, c.marks = filling{}, nil
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
	if c.fill.most(0) < c.o.Target {
		return nil
	}
	if err := c.measure(); err != nil || c.fill.most(0) < c.o.Target {
		return err
	}
	return c.flush(put)
}

// makeRoom ends the open segment when a row does not fit into it.
func (c *Cutter) makeRoom(r *row, size int, long bool, put func(Document) error) error {
	if len(c.open.rows) == 0 {
		return nil
	}
	fits := c.open.Bytes+int64(size) < heldMax
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

// outsource moves what a row holds into chunks.
func (c *Cutter) outsource(r *row, size int, put func(Document) error) error {
	names, docs := chunks(c.o.SID, c.open.PK, r.data, min(chunkBytes, c.o.Cap/2))
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
	b := summarise(c.st.Kind(), line, c.at.Turn)
	b.Index = len(c.open.rows)
	if r.ref != nil {
		r.ref.I = b.Index
	}
	p := c.chain.add(c.at.Point(), line)
	c.at.N, c.at.Hash = p.N, p.Hash
	c.at.Bytes += int64(len(line)) + 1
	c.open.Bytes += int64(len(line)) + 1
	c.marks = append(c.marks, c.at)
	c.open.rows = append(c.open.rows, row{slices.Clone(r.data), r.ref})
	c.open.Blocks = append(c.open.Blocks, b)
	c.fill.add(&r, &b, c.o.Raw)
}
