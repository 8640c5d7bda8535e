package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Version is the format of the documents written here. Documents of another format are
// refused.
const Version = 3

// Types of documents.
const (
	TypeSegment = "seg"
	TypeChunk   = "chunk"
)

// A Document is ready to be stored in the part PK under the name ID. Its label is a JSON
// object with the members type and v, and with all that lists need.
type Document struct {
	ID, PK, Type string
	Label, Body  []byte
	To           Point // of a segment: how far it stores the stream
	Lines        int   // of a segment
}

// Size returns the size in bytes that the document counts with in a remote.
func (d *Document) Size() int {
	o := remote.Object{Name: d.ID, Label: d.Label, Body: d.Body}
	return o.Size()
}

// Same reports whether another document has the same name and content.
func (d *Document) Same(other Document) bool {
	return d.ID == other.ID && bytes.Equal(d.Label, other.Label) && bytes.Equal(d.Body, other.Body)
}

// fits reports whether the document may be stored where documents have at most this size.
func (d *Document) fits(size int) bool { return d.Size() <= size && len(d.Label) <= labelMax }

// Forms of a segment's lines.
const (
	formZstd  = "zstd"  // each with its LF, compressed together
	formDelta = "delta" // the same, some of them being deltas
)

// header begins all labels.
type header struct {
	Type string `json:"type"`
	V    int    `json:"v"`
}

func (h header) is(kind string) bool { return h.Type == kind && h.V == Version }

// Label returns the label of a document of which lists only need the type.
func Label(kind string) []byte { return fmt.Appendf(nil, `{"type":%q,"v":%d}`, kind, Version) }

// segmentLabel is the label of a segment, in the order of its members.
type segmentLabel struct {
	header
	Stream Stream   `json:"st"`
	Seq    *int64   `json:"seq"`
	N      *int64   `json:"n"`
	End    int64    `json:"end"`
	Prev   Hash     `json:"prev"`
	Hash   Hash     `json:"hash"`
	Offset int64    `json:"off"`
	Bytes  int64    `json:"bytes"`
	At     []byte   `json:"at"`
	Form   string   `json:"z,omitempty"`
	Base   *int64   `json:"base,omitempty"`
	Chunks []string `json:"chunks,omitempty"` // that the lines need
}

// Document encodes s. The same segment gives the same bytes. The body holds the number of
// bytes of the descriptions of lines as a uvarint, these as JSON, and the lines, compressed.
func (s *Segment) Document() (Document, error) {
	n := int64(len(s.rows))
	d := segmentLabel{
		header: header{TypeSegment, Version}, Stream: s.Stream, Seq: &s.From.N, N: &n, End: s.To.N,
		Prev: s.From.Hash, Hash: s.To.Hash, Offset: s.Offset, Bytes: s.Bytes, At: s.at, Form: formZstd,
	}
	if s.base >= 0 {
		d.Base = &s.base
	}
	refs := []*ref{}
	for _, r := range s.rows {
		if r.ref != nil {
			refs = append(refs, r.ref)
			d.Chunks = append(d.Chunks, r.ref.Chunks...)
			if r.ref.As == asDelta {
				d.Form = formDelta
			}
		}
	}
	data, err := compress(join(s.rows))
	if err != nil {
		return Document{}, fmt.Errorf("encode segment: %w", err)
	}
	label, err := marshal(&d)
	if err != nil {
		return Document{}, fmt.Errorf("encode segment: %w", err)
	}
	body, err := withRefs(refs, data)
	if err != nil {
		return Document{}, fmt.Errorf("encode segment: %w", err)
	}
	return Document{ID: s.ID, PK: s.PK, Type: TypeSegment, Label: label, Body: body, To: s.To, Lines: len(s.rows)}, nil
}

func withRefs(refs []*ref, data []byte) ([]byte, error) {
	if len(refs) == 0 {
		return append([]byte{0}, data...), nil
	}
	text, err := marshal(refs)
	return slices.Concat(binary.AppendUvarint(nil, uint64(len(text))), text, data), err
}

func splitRefs(body []byte) (refs []*ref, data []byte, err error) {
	n, size := binary.Uvarint(body)
	if size <= 0 || n > uint64(len(body)-size) {
		return nil, nil, fmt.Errorf("%w: descriptions are cut", ErrDamaged)
	}
	text, data := body[size:size+int(n)], body[size+int(n):]
	if n > 0 && json.Unmarshal(text, &refs) != nil {
		return nil, nil, fmt.Errorf("%w: descriptions of lines", ErrDamaged)
	}
	return refs, data, nil
}

// DecodeInfo reads the [Info] of a segment from the label of a document that has an id in
// a partition. Errors are [ErrForeign], [ErrFormat] or [ErrDamaged].
func DecodeInfo(pk, id string, label []byte) (Info, error) {
	_, info, err := decodeLabel(pk, id, label)
	return info, err
}

// DecodeSegment reads a segment's document. It checks everything that can be checked
// without other documents; the hashes are checked when the lines are read. Errors are as
// of [DecodeInfo].
func DecodeSegment(d Document) (*Segment, error) {
	l, info, err := decodeLabel(d.PK, d.ID, d.Label)
	if err != nil {
		return nil, err
	}
	s := &Segment{Info: info}
	refs, data, err := splitRefs(d.Body)
	if err == nil {
		err = validRefs(l, refs, info)
	}
	if err != nil {
		return nil, fmt.Errorf("decode segment %s: %w", d.ID, err)
	}
	if s.rows, err = l.rows(refs, data); err != nil {
		return nil, fmt.Errorf("decode segment %s: %w", d.ID, err)
	}
	return s, nil
}

func decodeLabel(pk, id string, label []byte) (*segmentLabel, Info, error) {
	var d segmentLabel
	if err := unmarshal(label, TypeSegment, &d); err != nil {
		return nil, Info{}, fmt.Errorf("decode segment: %w", err)
	}
	_, err := ParseStream(string(d.Stream))
	if err != nil || d.Seq == nil || d.N == nil || *d.N > math.MaxInt32 || d.End-*d.N != *d.Seq {
		return nil, Info{}, fmt.Errorf("decode segment: %w: members missing", ErrDamaged)
	}
	info := Info{
		ID: id, PK: pk, Stream: d.Stream, From: Point{*d.Seq, d.Prev}, To: Point{d.End, d.Hash},
		Offset: d.Offset, Bytes: d.Bytes, Chunks: d.Chunks, base: -1, at: d.At,
	}
	if d.Base != nil {
		info.base = *d.Base
	}
	if err := info.valid(); err != nil {
		return nil, Info{}, fmt.Errorf("decode segment: %w", err)
	}
	return &d, info, nil
}

// validRefs checks the descriptions of lines.
func validRefs(d *segmentLabel, refs []*ref, info Info) error {
	last := -1
	var names []string
	for _, r := range refs {
		if r == nil || r.I <= last || int64(r.I) >= *d.N {
			return fmt.Errorf("%w: descriptions out of order", ErrDamaged)
		}
		last = r.I
		if err := r.valid(info.From.N + int64(r.I)); err != nil {
			return err
		}
		if r.As == asDelta && d.Form == formZstd {
			return fmt.Errorf("%w: a delta among whole lines", ErrDamaged)
		}
		names = append(names, r.Chunks...)
	}
	if !slices.Equal(names, d.Chunks) {
		return fmt.Errorf("%w: label and body name other chunks", ErrDamaged)
	}
	return nil
}

// rows takes the lines apart.
func (d *segmentLabel) rows(refs []*ref, data []byte) ([]row, error) {
	if d.Form != formZstd && d.Form != formDelta {
		return nil, fmt.Errorf("%w: unknown form", ErrDamaged)
	}
	data, err := expand(data)
	if err != nil {
		return nil, err
	}
	return split(data, int(*d.N), refs)
}

// unmarshal reads the label of a document of the given type into d.
func unmarshal(body []byte, want string, d interface{ is(kind string) bool }) error {
	err := json.Unmarshal(body, d)
	if err == nil && d.is(want) {
		return nil
	}
	if probed := Probe(body, want); probed != nil {
		return probed
	}
	return fmt.Errorf("%w: a member of the wrong type", ErrDamaged)
}

// Probe checks that a label is a label of this store with the given type and of this
// [Version]. Its error is [ErrForeign] or [ErrFormat].
func Probe(body []byte, want string) error {
	var head struct {
		Type string `json:"type"`
		V    *int   `json:"v"`
	}
	switch err := json.Unmarshal(body, &head); {
	case err != nil || head.V == nil || head.Type != want:
		return ErrForeign
	case *head.V != Version:
		return formatError(*head.V)
	}
	return nil
}

// CheckFormat returns an error that Is [ErrFormat] for the label of a document of another
// [Version], whatever its type.
func CheckFormat(label []byte) error {
	var l header
	if err := json.Unmarshal(label, &l); err != nil || l.V == 0 || l.V == Version {
		return nil // of another tool, or of this version
	}
	return formatError(l.V)
}

// A formatError is the error for a document of another format than [Version]. It is an
// [ErrFormat], and an [ErrNewer] where the format is greater.
type formatError int

func (v formatError) Error() string {
	if v > Version {
		return fmt.Sprintf("format %d in the remote, and %d in this program: update this program", int(v), Version)
	}
	return fmt.Sprintf("format %d in the remote, and %d in this program: move the data away, or sync with another remote", int(v), Version)
}

func (v formatError) Is(target error) bool {
	return target == ErrFormat || target == ErrNewer && v > Version
}

// A reader reads a stream segment by segment.
type reader struct {
	src    Source
	st     Stream
	infos  []Info
	damage *DamageError // of a segment that is no longer among infos
	at     Point        // behind the lines that were read and checked
	tip    Point
	spans  []Span // the spans still to be read
	kept   kept
	chain  *chain
}

// kept is a line that deltas may need.
type kept struct {
	n    int64
	line []byte // nil when there is none
	lent bool   // by the caller: it was not checked
	part bool   // of a segment, which it keeps in memory
}

func (r *reader) damaged(in *Info, cause error) *DamageError {
	return &DamageError{Stream: r.st, From: in.From.N, To: in.To.N, ID: in.ID, Cause: cause}
}

// has reports whether the segment id is among those that may be used.
func (r *reader) has(id string) bool {
	return slices.ContainsFunc(r.infos, func(in Info) bool { return in.ID == id })
}

func apply(base, delta []byte, to *ref) ([]byte, error) {
	line, err := applyDelta(make([]byte, 0, min(to.Bytes, int64(len(base)+len(delta)))), base, delta, to.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return line, nil
}

// The errors of this package, for [errors.Is].
var (
	ErrFormat  = errors.New("a format that this version of the library neither reads nor changes")
	ErrNewer   = errors.New("written by a newer version") // Is ErrFormat too, see formatError
	ErrForeign = errors.New("not a document of this store")
	ErrDamaged = errors.New("damaged")
	ErrGap     = errors.New("records are missing")
	ErrOffside = errors.New("the place is not in this history")
)

// A DamageError names the records that cannot be read because a document exists but does
// not hold the expected content. It is an [ErrDamaged].
type DamageError struct {
	Stream   Stream
	From, To int64 // records From up to To, without To
	ID       string
	Cause    error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("read segment %s, records %d up to %d of stream %s: %v", e.ID, e.From, e.To, e.Stream, e.Cause)
}

// Unwrap returns ErrDamaged and the cause.
func (e *DamageError) Unwrap() []error { return []error{ErrDamaged, e.Cause} }

// A GapError names the records that no segment holds. It is an [ErrGap]. When a segment
// that would hold some of them was damaged, Damage names it, and the error is an
// [ErrDamaged] too.
type GapError struct {
	Stream   Stream
	From, To int64 // records From up to To, without To
	Damage   *DamageError
}

func (e *GapError) Error() string {
	text := fmt.Sprintf("read stream %s: no segment for records %d up to %d", e.Stream, e.From, e.To)
	if e.Damage != nil {
		text += ": " + e.Damage.Error()
	}
	return text
}

// Unwrap returns ErrGap, and the damage if there is some.
func (e *GapError) Unwrap() []error {
	if e.Damage == nil {
		return []error{ErrGap}
	}
	return []error{ErrGap, e.Damage}
}
