package segment

import (
	"fmt"
	"math"
	"strings"
)

// A Segment is a document with some lines of a stream, in the form in which
// they are stored.
type Segment struct {
	Info

	rows   []row
	blocks []Block // of a transcript: one for each row
}

// Info is what is known of a segment without its lines.
type Info struct {
	ID, PK   string
	Stream   Stream
	From, To Point
	Offset   int64    // bytes of the stream before it
	Bytes    int64    // bytes of its lines, each with its LF
	Chunks   []string // names of the chunks that its lines need

	base  int64  // the record before it that its first delta needs; -1 for none
	at    []byte // the first bytes of the hash behind each line
	index []byte // of a transcript
}

// check is how many bytes of each inner hash a segment holds: enough to find
// the way. What is read is checked with whole hashes.
const check = 8

// knows reports whether p lies on the history of the segment, behind its first
// line or at one of its ends.
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

// lines returns how many lines the segment has.
func (in *Info) lines() int64 { return in.To.N - in.From.N }

// mark returns the first bytes of the hash at record n.
func (in *Info) mark(n int64) [check]byte {
	if n == in.From.N {
		return [check]byte(in.From.Hash[:check])
	}
	return [check]byte(in.at[(n-in.From.N-1)*check:])
}

// valid checks what does not need the lines.
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

// Blocks returns a block for each line of a segment of a transcript. It reports
// false where the index is damaged: the lines tell the same then. No hash covers an
// index.
func (in *Info) Blocks() ([]Block, bool) { return decodeIndex(in.index, int(in.lines())) }

// readBlocks reads the index. Where that is damaged, it makes the blocks of the lines that
// are not in chunks anew.
func (s *Segment) readBlocks() {
	var ok bool
	if s.blocks, ok = s.Blocks(); ok {
		return
	}
	s.blocks = make([]Block, len(s.rows))
	for i, r := range s.rows {
		if r.ref == nil || r.ref.Chunks == nil {
			s.blocks[i] = BlockOf(r.data)
		}
	}
}

// isNamed reports whether the id tells which lines the segment has.
func (in *Info) isNamed(sid string) bool {
	nonce, ok := strings.CutPrefix(in.ID, ID(sid, in.Stream, in.From, in.To, ""))
	return ok && isNonce(nonce)
}

// SID returns the key of the session that wrote the segment.
func (in *Info) SID() string { return in.ID[:32] }

// A row is a line as a segment stores it: the line itself, or a delta, or
// nothing but the chunks that hold one of both.
type row struct {
	data []byte
	ref  *ref // nil for a line that is stored as it is
}

// How a line is stored that is not nil in refs.
const (
	asKey   = "key"   // as it is; deltas that follow are made with it
	asDelta = "delta" // as a delta with the record base; deltas that follow are made with the line
)

// A ref describes a line that is not stored as it is, or that others need.
type ref struct {
	I      int      `json:"i"`
	As     string   `json:"z,omitempty"`
	Base   *int64   `json:"base,omitempty"`
	Bytes  int64    `json:"bytes"`         // of the line
	Stored int64    `json:"len,omitempty"` // of the delta
	Sum    *Hash    `json:"sha,omitempty"` // SHA-256 of what the chunks hold
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
