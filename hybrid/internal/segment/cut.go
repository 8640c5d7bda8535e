package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Documents yields the documents of lines, which come without LF: the chunks that a
// segment needs, then the segment. When the loop breaks or a line has an error, rows that
// were not yielded are lost for this cutter. It holds one segment, one chunk, the last
// long line of an event log, and the present line; it keeps no memory of a given line.
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

// errStopped ends cut when the consumer wants no further documents.
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

// add takes a line and puts the documents that must be stored because of it.
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

// measure compresses the rows that were not compressed yet, to know their size.
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

// chunkSize returns the size of the chunks of a row of n bytes.
func (c *Cutter) chunkSize(n int) int { return max(min(chunkBytes, c.o.Cap/2), n/maxChunks+1) }

// outsource moves the data of a row into chunks.
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

// push appends a row to the open segment.
func (c *Cutter) push(line []byte, r row) {
	if c.st.Kind() == KindTranscript && beginsTurn(line) {
		c.at.Turn++
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

// From is the place where new lines begin.
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

// At returns the place where the next lines will begin. Its Large shares memory with the
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

// sizeEstimate estimates, from above, the size of the document of the open segment. Rows
// count with their full size until they have been measured.
type sizeEstimate struct {
	fixed      int // hashes, descriptions
	label      int // hashes, names of chunks
	measured   int // bytes, compressed
	unmeasured int // bytes, not compressed
	rows       int // that were measured
}

const (
	headBytes     = 900 // of a document without rows: ids, hashes, names of members
	refBytes      = 300 // of a description in base64, at most, without chunks
	nameBytes     = 43  // of the name of a chunk in the label
	chunkRefBytes = 58  // of the name of a chunk in a description
)

// labelBytes returns the number of bytes that a row adds to the label of a document.
func labelBytes(r *row) int {
	n := base64.StdEncoding.EncodedLen(check) + 1
	if r.ref != nil {
		n += len(r.ref.Chunks) * nameBytes
	}
	return n
}

// rowBytes returns the number of bytes that a row adds to a document, besides its
// compressed data.
func rowBytes(r *row) int {
	n := labelBytes(r)
	if r.ref != nil {
		n += refBytes + len(r.ref.Chunks)*chunkRefBytes
	}
	return n
}

func (f *sizeEstimate) add(r *row) {
	f.fixed += rowBytes(r)
	f.label += labelBytes(r)
	f.unmeasured += len(r.data) + 1
}

// upperBound returns the largest size of the document with further bytes of payload.
func (f *sizeEstimate) upperBound(more int) int {
	return headBytes + f.fixed + encodedBytes(f.measured+f.unmeasured+more)
}

// encodedBytes returns the largest number of bytes that a payload of this size takes.
func encodedBytes(payload int) int { return base64.StdEncoding.EncodedLen(payload + payload/128 + 64) }

// UpperBound returns the largest size in bytes of the document of the segment. It is
// several times too high for lines that are stored as differences or compress well.
func (in *Info) UpperBound() int64 {
	refs := in.Bytes / largeMin
	fixed := in.lines()*int64(rowBytes(&row{})) + refs*(refBytes+2*(nameBytes+chunkRefBytes))
	return headBytes + fixed + int64(encodedBytes(int(in.Bytes)))
}

// A Mark is a place in a local file from which hashing can go on.
type Mark struct {
	N      int64 // records before it
	Offset int64 // bytes of the local file before it
	Hash   Hash  // over the lines as they are sent
	Raw    Hash  // keyed, over the lines as they are in the file; zero without a key
	Bytes  int64 // of the stream before it, each line with its LF: Offset, unless redaction changed lengths
	Turn   int   // turns begun before it, of a transcript
}

// Begin returns the mark before the first line of a stream.
func Begin(s Stream) Mark { return Mark{Hash: Origin(s).Hash} }

// Point returns the point of the mark.
func (m Mark) Point() Point { return Point{N: m.N, Hash: m.Hash} }

// MarshalJSON writes m as an array, in the order of its fields.
func (m Mark) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{m.N, m.Offset, m.Hash, m.Raw, m.Bytes, m.Turn})
}

// UnmarshalJSON reads the result of MarshalJSON.
func (m *Mark) UnmarshalJSON(text []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 6 {
		return errors.New("read mark: not an array of 6")
	}
	var got Mark
	for i, to := range []any{&got.N, &got.Offset, &got.Hash, &got.Raw, &got.Bytes, &got.Turn} {
		if err := json.Unmarshal(parts[i], to); err != nil {
			return errors.New("read mark: a part of the wrong type")
		}
	}
	if got.N < 0 || got.Offset < 0 || got.Bytes < 0 || got.Turn < 0 {
		return errors.New("read mark: negative number")
	}
	*m = got
	return nil
}

// A Tracker computes the hashes of a stream while its lines are read, and keeps
// marks on the way.
type Tracker struct {
	at       Mark
	turns    bool
	sent     *chain
	raw      *chain // nil without a key
	marks    []Mark
	thinning int64
}

// NewTracker returns a tracker that goes on at the last of marks, or at the
// beginning of s. With a key it also computes [Mark].Raw.
func NewTracker(s Stream, key []byte, marks []Mark) *Tracker {
	t := &Tracker{at: Begin(s), turns: s.Kind() == KindTranscript, sent: newChain(sha256.New)}
	if key != nil {
		t.raw = newKeyed(key)
	}
	for _, m := range marks {
		t.at = m
		t.note()
	}
	return t
}

// Add takes the next line without its LF, as it is in the file, and as it is sent; nil
// when that is the same.
func (t *Tracker) Add(raw, sent []byte) {
	if sent == nil {
		sent = raw
	}
	t.at.Hash = t.sent.next(t.at.Hash, sent)
	if t.raw != nil {
		t.at.Raw = t.raw.next(t.at.Raw, raw)
	}
	if t.turns && beginsTurn(sent) {
		t.at.Turn++
	}
	t.at.N++
	t.at.Offset += int64(len(raw)) + 1
	t.at.Bytes += int64(len(sent)) + 1
	t.note()
}

// Mark returns the place behind the last line.
func (t *Tracker) Mark() Mark { return t.at }

// Marks returns places from the beginning up to [Tracker.Mark], which is the last. They
// are dense at the end and rare at the beginning: for any record, fewer lines lie between
// it and the mark before than between it and the end, give or take some. There are about
// four for each doubling.
func (t *Tracker) Marks() []Mark {
	t.thin()
	out := append([]Mark(nil), t.marks...)
	if len(out) == 0 || out[len(out)-1].N != t.at.N {
		out = append(out, t.at)
	}
	return out
}

// Marks are at multiples of grid, so that replicas have the same.
const grid = 16

func (t *Tracker) note() {
	if t.at.N == 0 || t.at.N%grid != 0 {
		return
	}
	t.marks = append(t.marks, t.at)
	if t.thinning++; t.thinning == grid {
		t.thin()
	}
}

// thin drops a mark at m·2^k·grid, m odd, when the end is further away than
// four times 2^k·grid.
func (t *Tracker) thin() {
	t.thinning = 0
	kept := t.marks[:0]
	for _, m := range t.marks {
		step := int64(grid) << bits.TrailingZeros64(uint64(m.N/grid))
		if t.at.N-m.N <= 4*step {
			kept = append(kept, m)
		}
	}
	t.marks = kept
}

// Floor returns the last of marks, which ascend, that is not behind record n.
func Floor(marks []Mark, n int64) (Mark, bool) {
	for i := len(marks) - 1; i >= 0; i-- {
		if marks[i].N <= n {
			return marks[i], true
		}
	}
	return Mark{}, false
}

// beginsTurn reports whether a message is a message of the user.
func beginsTurn(line []byte) bool {
	if !bytes.Contains(line, []byte(`"user"`)) {
		return false
	}
	role, ok := pyjson.Lookup(line, "role")
	return ok && string(role) == `"user"`
}
