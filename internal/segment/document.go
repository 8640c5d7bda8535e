package segment

import (
	"encoding/json"
	"fmt"
	"math"
)

// Version is the format of the documents written here. Those of another one are refused.
const Version = 2

// Types of documents.
const (
	TypeSegment = "seg"
	TypeChunk   = "chunk"
)

// A Document is ready to be stored: Body is JSON, with ID and PK as its
// members id and pk.
type Document struct {
	ID, PK, Type string
	Body         []byte
	To           Point // of a segment: how far the stream is stored once this is
	Lines        int   // of a segment
}

// Forms of a segment's lines.
const (
	formZstd  = "zstd"  // each with its LF, compressed together
	formDelta = "delta" // the same, some of them being deltas
)

// header is what all documents begin with.
type header struct {
	ID   string `json:"id"`
	PK   string `json:"pk"`
	Type string `json:"type"`
	V    int    `json:"v"`
}

func (h header) is(kind string) bool { return h.Type == kind && h.V == Version }

// segmentDoc is the document, in the order of its members.
type segmentDoc struct {
	header
	Stream Stream `json:"st"`
	Seq    *int64 `json:"seq"`
	N      *int64 `json:"n"`
	End    int64  `json:"end"`
	Prev   Hash   `json:"prev"`
	Hash   Hash   `json:"hash"`
	Offset int64  `json:"off"`
	Bytes  int64  `json:"bytes"`
	At     []byte `json:"at"`
	Form   string `json:"z,omitempty"`
	Base   *int64 `json:"base,omitempty"`
	Data   []byte `json:"data,omitempty"`
	Index  []byte `json:"idx,omitempty"`
	Refs   []*ref `json:"refs,omitempty"`
}

// Document encodes s. The same segment gives the same bytes.
func (s *Segment) Document() (Document, error) {
	n := int64(len(s.rows))
	d := segmentDoc{
		header: header{s.ID, s.PK, TypeSegment, Version}, Stream: s.Stream, Seq: &s.From.N, N: &n, End: s.To.N,
		Prev: s.From.Hash, Hash: s.To.Hash, Offset: s.Offset, Bytes: s.Bytes, At: s.at, Form: formZstd,
	}
	if len(s.blocks) > 0 {
		d.Index = encodeIndex(s.blocks)
	}
	if s.base >= 0 {
		d.Base = &s.base
	}
	for _, r := range s.rows {
		if r.ref != nil {
			d.Refs = append(d.Refs, r.ref)
			if r.ref.As == asDelta {
				d.Form = formDelta
			}
		}
	}
	var err error
	if d.Data, err = compress(join(s.rows)); err != nil {
		return Document{}, fmt.Errorf("encode segment: %w", err)
	}
	body, err := marshal(&d)
	if err != nil {
		return Document{}, fmt.Errorf("encode segment: %w", err)
	}
	return Document{ID: s.ID, PK: s.PK, Type: TypeSegment, Body: body, To: s.To, Lines: len(s.rows)}, nil
}

// DecodeInfo reads what [Info] holds from a segment's document or from a
// projection with its members id, pk, type, v, st, seq, n, end, prev, hash,
// off, bytes, at, base and, for [Info.Blocks], idx. Errors are [ErrForeign], [ErrFormat] or [ErrDamaged].
func DecodeInfo(body []byte) (Info, error) {
	_, info, err := decodeDoc(body)
	return info, err
}

// DecodeSegment reads a segment's document. What can be checked without other
// documents is; the hashes are checked when the lines are read. Errors are as
// of [DecodeInfo].
func DecodeSegment(body []byte) (*Segment, error) {
	d, info, err := decodeDoc(body)
	if err != nil {
		return nil, err
	}
	s := &Segment{Info: info}
	if err := validRefs(d, info); err != nil {
		return nil, fmt.Errorf("decode segment %s: %w", d.ID, err)
	}
	if s.rows, err = d.rows(); err != nil {
		return nil, fmt.Errorf("decode segment %s: %w", d.ID, err)
	}
	if s.Stream == Transcript {
		s.readBlocks()
	}
	return s, nil
}

func decodeDoc(body []byte) (*segmentDoc, Info, error) {
	var d segmentDoc
	if err := unmarshal(body, TypeSegment, &d); err != nil {
		return nil, Info{}, fmt.Errorf("decode segment: %w", err)
	}
	_, err := ParseStream(string(d.Stream))
	if err != nil || d.Seq == nil || d.N == nil || *d.N > math.MaxInt32 || d.End-*d.N != *d.Seq {
		return nil, Info{}, fmt.Errorf("decode segment: %w: members missing", ErrDamaged)
	}
	info := Info{
		ID: d.ID, PK: d.PK, Stream: d.Stream, From: Point{*d.Seq, d.Prev}, To: Point{d.End, d.Hash},
		Offset: d.Offset, Bytes: d.Bytes, base: -1, at: d.At, index: d.Index,
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
func validRefs(d *segmentDoc, info Info) error {
	last := -1
	for _, r := range d.Refs {
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
	}
	return nil
}

// rows takes the lines apart.
func (d *segmentDoc) rows() ([]row, error) {
	if d.Form != formZstd && d.Form != formDelta {
		return nil, fmt.Errorf("%w: unknown form", ErrDamaged)
	}
	data, err := expand(d.Data)
	if err != nil {
		return nil, err
	}
	return split(data, int(*d.N), d.Refs)
}

// unmarshal reads a document of the given type into d.
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

// Probe checks that body is a document of this store with the given type and of this
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

// A formatError tells that a document has another format than [Version]. It is an
// [ErrFormat], and an [ErrNewer] where the format is greater.
type formatError int

func (v formatError) Error() string {
	if v > Version {
		return fmt.Sprintf("format %d in the cloud, and %d in this program: update this program", int(v), Version)
	}
	return fmt.Sprintf("format %d in the cloud, and %d in this program: move the data away, or sync with another container", int(v), Version)
}

func (v formatError) Is(target error) bool {
	return target == ErrFormat || target == ErrNewer && v > Version
}
