package head

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// TypeMore is the type of documents with what has no room in a head.
const TypeMore = "more"

// MaxMore is how many entries such a document holds, of each list.
const MaxMore = 64

// A More holds entries of a head's lists that had no room there, the oldest
// first. Its document never changes: its id follows from its content, and a
// head leads to it by OldMore or BranchMore. A full one is followed by another,
// which names it.
type More struct {
	SID      string
	ID       string // of its document, once there is one
	Old      []Old
	Branches []Branch
	Next     string // id of the document with what is older; "" for none
}

type moreDoc struct {
	ID       string   `json:"id"`
	PK       string   `json:"pk"`
	Type     string   `json:"type"`
	V        int      `json:"v"`
	Old      []Old    `json:"old,omitempty"`
	Branches []Branch `json:"branches,omitempty"`
	Next     string   `json:"next,omitempty"`
}

// With returns the document that holds the entries of m and those given, or
// only these, with m next, when m is full. id is that of m's document; m may
// be nil, and id may still name one that could not be read.
func (m *More) With(sid, id string, old []Old, branches []Branch) *More {
	if m == nil || len(m.Old)+len(old) > MaxMore || len(m.Branches)+len(branches) > MaxMore {
		return &More{SID: sid, Old: old, Branches: branches, Next: id}
	}
	return &More{SID: sid, Old: slices.Concat(m.Old, old), Branches: slices.Concat(m.Branches, branches), Next: m.Next}
}

// Encode returns the document of m. The same content gives the same document.
func (m *More) Encode() (segment.Document, error) {
	d := moreDoc{PK: segment.SessionPK(m.SID), Type: TypeMore, V: segment.Version, Old: m.Old, Branches: m.Branches, Next: m.Next}
	content, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode more of a head: %w", err)
	}
	d.ID = moreID(m.SID, content)
	body, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode more of a head: %w", err)
	}
	return segment.Document{ID: d.ID, PK: d.PK, Type: TypeMore, Body: body}, nil
}

// moreID names a document by its content without the id.
func moreID(sid string, content []byte) string {
	sum := sha256.Sum256(content)
	return sid + "-m-" + hex.EncodeToString(sum[:16])
}

// DecodeMore reads the document id of session sid. Errors are as of [Decode].
func DecodeMore(body []byte, sid, id string) (*More, error) {
	var d moreDoc
	err := json.Unmarshal(body, &d)
	if probed := segment.Probe(body, TypeMore); probed != nil {
		return nil, fmt.Errorf("decode more of a head: %w", probed)
	}
	if err != nil || d.ID != id || d.PK != segment.SessionPK(sid) {
		return nil, fmt.Errorf("decode more of a head: %w", segment.ErrDamaged)
	}
	d.ID = ""
	content, err := marshal(&d)
	if err != nil || moreID(sid, content) != id {
		return nil, fmt.Errorf("decode more of a head: %w: content and id differ", segment.ErrDamaged)
	}
	return &More{SID: sid, ID: id, Old: d.Old, Branches: d.Branches, Next: d.Next}, nil
}
