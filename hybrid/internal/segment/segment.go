package segment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
)

// A Segment is a document with some lines of a stream, in the form in which
// they are stored.
type Segment struct {
	Info

	rows []row
}

// Info is a segment without its lines.
type Info struct {
	ID, PK   string
	Stream   Stream
	From, To Point
	Offset   int64    // bytes of the stream before it
	Bytes    int64    // bytes of its lines, each with its LF
	Chunks   []string // names of the chunks that its lines need

	base int64  // the record before it that its first delta needs; -1 for none
	at   []byte // the first bytes of the hash behind each line
}

// check is the number of bytes of each inner hash that a segment holds: enough to find
// the way. Lines that are read are checked with whole hashes.
const check = 8

// knows reports whether p is on the history of the segment, behind its first line or at
// one of its ends.
func (in *Info) knows(p Point) bool {
	switch {
	case p.N == in.From.N:
		return p.Hash == in.From.Hash
	case p.N == in.To.N:
		return p.Hash == in.To.Hash
	case p.N < in.From.N || p.N > in.To.N:
		return false
	}
	return in.mark(p.N) == [check]byte(p.Hash[:check])
}

// lines returns the number of lines of the segment.
func (in *Info) lines() int64 { return in.To.N - in.From.N }

// mark returns the first bytes of the hash at record n.
func (in *Info) mark(n int64) [check]byte {
	if n == in.From.N {
		return [check]byte(in.From.Hash[:check])
	}
	return [check]byte(in.at[(n-in.From.N-1)*check:])
}

// valid checks everything that does not need the lines.
func (in *Info) valid() error {
	n := in.To.N - in.From.N
	sid, _, _ := strings.Cut(in.ID, "-")
	switch {
	case in.From.N < 0 || n <= 0 || in.Offset < 0 || in.Bytes < n || n > math.MaxInt32:
		return fmt.Errorf("numbers that cannot be: %w", ErrDamaged)
	case !isSID(sid) || !in.isNamed(sid):
		return fmt.Errorf("id and content differ: %w", ErrDamaged)
	case in.PK != SessionPK(sid):
		return fmt.Errorf("partition of another session: %w", ErrDamaged)
	case int64(len(in.at)) != n*check || in.mark(in.To.N) != [check]byte(in.To.Hash[:check]):
		return fmt.Errorf("inner hashes do not fit: %w", ErrDamaged)
	case in.From.N == 0 && in.From != Origin(in.Stream):
		return fmt.Errorf("another beginning: %w", ErrDamaged)
	case in.base < -1 || in.base >= in.From.N:
		return fmt.Errorf("base behind what needs it: %w", ErrDamaged)
	}
	return nil
}

// isNamed reports whether the id matches the lines of the segment.
func (in *Info) isNamed(sid string) bool {
	nonce, ok := strings.CutPrefix(in.ID, ID(sid, in.Stream, in.From, in.To, ""))
	return ok && isNonce(nonce)
}

// SID returns the key of the session that wrote the segment.
func (in *Info) SID() string { return in.ID[:32] }

// A row is a line as a segment stores it: the line itself, or a delta, or nothing but the
// chunks that hold either.
type row struct {
	data []byte
	ref  *ref // nil for a line that is stored as it is
}

// The ways to store a line that has a ref.
const (
	asKey   = "key"   // as it is; deltas that follow are made with it
	asDelta = "delta" // as a delta with the record base; deltas that follow are made with the line
)

// A ref describes a line that is stored in another form, or that other lines need.
type ref struct {
	I      int      `json:"i"`
	As     string   `json:"z,omitempty"`
	Base   *int64   `json:"base,omitempty"`
	Bytes  int64    `json:"bytes"`         // of the line
	Stored int64    `json:"len,omitempty"` // of the delta
	Sum    *Hash    `json:"sha,omitempty"` // SHA-256 of the content of the chunks
	Chunks []string `json:"chunks,omitempty"`
}

// MaxLine is the longest line that is written or read, in bytes.
const MaxLine = 1 << 30

func (r *ref) valid(record int64) error {
	delta := r.As == asDelta
	switch {
	case r.Bytes < 0 || r.Bytes > MaxLine || r.Stored < 0 || r.Stored > MaxLine,
		r.As != "" && r.As != asKey && !delta,
		delta != (r.Base != nil), delta && (*r.Base < 0 || *r.Base >= record),
		delta != (r.Stored > 0),
		r.As == "" && r.Chunks == nil, (r.Sum == nil) != (r.Chunks == nil):
		return fmt.Errorf("line %d is described wrongly: %w", r.I, ErrDamaged)
	}
	for _, c := range r.Chunks {
		if !isChunkName(c) {
			return fmt.Errorf("line %d names a chunk wrongly: %w", r.I, ErrDamaged)
		}
	}
	return nil
}

// size returns the bytes of a row as they are stored in the segment or in its
// chunks.
func (r *ref) size() int64 {
	if r.As == asDelta {
		return r.Stored
	}
	return r.Bytes
}

// A Source reads documents. An error of it ends the reading and is returned; [ErrMissing]
// says that there is no such document, which is damage.
type Source interface {
	Segment(in Info) (Document, error)
	// Chunks yields the documents ids of a partition in their order; an error
	// is the last thing it yields.
	Chunks(pk string, ids []string) iter.Seq2[Document, error]
}

// ErrMissing is the error of a [Source] for a document that does not exist.
var ErrMissing = fmt.Errorf("%w: no such document", ErrDamaged)

// load reads the segment of in.
func load(src Source, in *Info) (*Segment, error) {
	d, err := src.Segment(*in)
	if err != nil {
		return nil, err
	}
	s, err := DecodeSegment(d)
	if err != nil {
		return nil, hurt(err)
	}
	if s.ID != in.ID || s.From != in.From || s.To != in.To {
		return nil, fmt.Errorf("%w: another segment than its projection", ErrDamaged)
	}
	return s, nil
}

// hurt turns the error for a foreign document in the place of one of ours into damage.
func hurt(err error) error {
	if errors.Is(err, ErrForeign) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// stored returns the data of a row: a line or a delta.
func stored(src Source, s *Segment, r *row) ([]byte, error) {
	if r.ref == nil || r.ref.Chunks == nil {
		if r.ref != nil && int64(len(r.data)) != r.ref.size() {
			return nil, errRows
		}
		return r.data, nil
	}
	ids := make([]string, len(r.ref.Chunks))
	for i, name := range r.ref.Chunks {
		ids[i] = ChunkID(s.SID(), name)
	}
	var data []byte
	i := 0
	for d, err := range src.Chunks(s.PK, ids) {
		id := ids[i]
		if err != nil {
			return nil, fmt.Errorf("chunk %s: %w", id, err)
		}
		part, err := DecodeChunk(d)
		if err != nil {
			return nil, fmt.Errorf("chunk %s: %w", id, hurt(err))
		}
		if i == 0 { // all but the last are as long
			data = make([]byte, 0, min(r.ref.size(), int64(len(part))*int64(len(ids))))
		}
		i++
		if data = append(data, part...); int64(len(data)) > r.ref.size() {
			break
		}
	}
	if int64(len(data)) != r.ref.size() || sha256.Sum256(data) != *r.ref.Sum {
		return nil, fmt.Errorf("%w: chunks do not make what they should", ErrDamaged)
	}
	return data, nil
}

// Kind is the kind of the lines of a stream.
type Kind byte

// The kinds of streams. A session has one transcript; each device has its own stream of
// each other kind, so that they cannot conflict.
const (
	KindTranscript   Kind = 't' // transcript.jsonl
	KindEvents       Kind = 'e' // events.jsonl
	KindPhases       Kind = 'p' // phase_outputs.jsonl
	KindConversation Kind = 'c' // session_conversation.jsonl
	KindStates       Kind = 'h' // state_history.jsonl
)

// String returns the letter of k.
func (k Kind) String() string { return string(rune(k)) }

// A Stream names a sequence of lines of a session: "t" for the transcript, "e-1f3a9c02"
// for the events of a device, "e-1f3a9c02.2" for the events that the device began anew
// after its log had been replaced.
type Stream string

// Transcript is the stream of a session's transcript.
const Transcript Stream = "t"

// LogStream names a log of a device. Generations count from 1; dev8 is 8
// lower-case hexadecimal digits.
func LogStream(k Kind, dev8 string, generation int) Stream {
	if generation > 1 {
		dev8 += "." + strconv.Itoa(generation)
	}
	return Stream(k.String() + "-" + dev8)
}

// ParseStream checks the name of a stream.
func ParseStream(name string) (Stream, error) {
	s := Stream(name)
	if s == Transcript {
		return s, nil
	}
	dev := s.Device()
	if len(name) < 2 || !strings.Contains("epch", name[:1]) || len(dev) != 8 || strings.Trim(dev, "0123456789abcdef") != "" ||
		s != LogStream(s.Kind(), dev, s.Generation()) {
		return "", errors.New("parse stream: not the name of a stream")
	}
	return s, nil
}

// Kind returns the kind of the lines of s, 0 for the empty name.
func (s Stream) Kind() Kind {
	if s == "" {
		return 0
	}
	return Kind(s[0])
}

// Device returns the device of a log, "" for the transcript.
func (s Stream) Device() string {
	_, rest, _ := strings.Cut(string(s), "-")
	dev, _, _ := strings.Cut(rest, ".")
	return dev
}

// Generation returns how often the log was begun, 1 for the first time.
func (s Stream) Generation() int {
	_, text, found := strings.Cut(string(s), ".")
	n, err := strconv.Atoi(text)
	if !found || err != nil || n < 2 {
		return 1
	}
	return n
}

// deltas reports whether long lines are stored as differences: lines of events are, since
// they repeat the whole conversation again and again.
func (s Stream) deltas() bool { return s.Kind() == KindEvents }

// Options are the options of a cutter. The zero value of each number is its default.
type Options struct {
	SID    string
	Target int           // bytes of a document at which the next begins: 64 KB
	Cap    int           // bytes that no segment exceeds: 1.0 MB; after a refusal for its size, half of it
	Size   int64         // bytes that will come, when known: lines that fit into two documents are not cut finer
	Draw   func() string // draws a nonce: 16 hexadecimal digits that were never used; nil: from the system
}

// Capacity is the largest size in bytes of the document of a segment.
const Capacity = 1000 << 10

const (
	target    = 64 << 10
	twoDocs   = 1100 << 10 // of lines up to inlineMax, however they compress
	labelMax  = 64 << 10   // of the label of a document
	maxChunks = 1480       // of a line: their names are in a label
	inlineMax = 256 << 10  // longer lines and deltas go into chunks
	heldMax   = 8 << 20    // bytes of the lines of a segment, unless it has only one
	largeMin  = 8 << 10    // longer lines may become deltas
)

func (o Options) filled() Options {
	if o.Cap == 0 {
		o.Cap = Capacity
	}
	if o.Target == 0 {
		o.Target = target
		if o.Size > 0 && o.Size <= twoDocs {
			o.Target = o.Cap
		}
	}
	if o.Draw == nil {
		var system *jitter.Source
		o.Draw = func() string { return system.Name(nonceLen / 2) }
	}
	o.Cap = max(o.Cap, target)
	o.Target = min(o.Target, o.Cap)
	return o
}

// base is the line that the next long line of a stream is compared with.
type base struct {
	Large
	buf []byte
}

// A delta chain is broken by a whole line once the deltas since the last one
// add up to ten times the line: whole lines cost a tenth then.
const perKey = 10

// row returns the form in which record n is stored: as it is, or as a delta. The row is
// valid until the next call, and may share memory with line. A long line becomes the base
// of the following ones, unless it has nothing in common with the base and is shorter:
// the output of a tool between two requests that repeat each other. Such a line becomes
// the base after all when such lines have wasted as many bytes as the base has.
func (b *base) row(s Stream, n int64, line []byte) row {
	if !s.deltas() || len(line) <= largeMin {
		return row{data: line}
	}
	size := int64(len(line))
	if b.Line != nil {
		var alike bool
		b.buf, alike = appendDelta(b.buf[:0], b.Line, line, int(size-size/4))
		stored := int64(len(b.buf))
		if alike && b.Since+stored <= perKey*size {
			r := row{data: b.buf, ref: &ref{As: asDelta, Base: new(b.N), Bytes: size, Stored: stored}}
			b.become(n, line, b.Since+stored)
			return r
		}
		if b.Wasted += size; !alike && size < int64(len(b.Line)) && b.Wasted < int64(len(b.Line)) {
			return row{data: line}
		}
	}
	b.become(n, line, 0)
	return row{data: line, ref: &ref{As: asKey, Bytes: size}}
}

func (b *base) become(n int64, line []byte, since int64) {
	b.Large = Large{N: n, Line: append(b.Line[:0], line...), Since: since}
}

// A Large is the line that the next long line of an event log is compared
// with. Without it nothing is lost: one line is stored whole.
type Large struct {
	N      int64  `json:"n"` // its record
	Line   []byte `json:"-"` // as it is sent
	Since  int64  `json:"since"`
	Wasted int64  `json:"wasted"`
}
