package head

import (
	"encoding/json"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// TypeGone is the type of the documents that condemn others.
const TypeGone = "gone"

// A Gone condemns documents of a session: they are removed once a head leads to it, and
// nothing may come to need them. It is removed when they are, in the request that makes a
// head which does not lead to it.
type Gone struct {
	ID    string   // of its document
	Names []string // ids of the documents that are condemned
}

type goneDoc struct {
	ID    string   `json:"id"`
	PK    string   `json:"pk"`
	Type  string   `json:"type"`
	V     int      `json:"v"`
	Names []string `json:"names"`
}

// Encode returns the document of g, which belongs to session sid.
func (g *Gone) Encode(sid string) (segment.Document, error) {
	d := goneDoc{g.ID, segment.SessionPK(sid), TypeGone, segment.Version, g.Names}
	body, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode condemned names: %w", err)
	}
	return segment.Document{ID: d.ID, PK: d.PK, Type: TypeGone, Body: body}, nil
}

// DecodeGone reads a document with condemned names of session sid. Errors are as of [Decode].
func DecodeGone(body []byte, sid string) (Gone, error) {
	var d goneDoc
	err := json.Unmarshal(body, &d)
	if probed := segment.Probe(body, TypeGone); probed != nil {
		return Gone{}, fmt.Errorf("decode condemned names: %w", probed)
	}
	if err != nil || d.PK != segment.SessionPK(sid) {
		return Gone{}, fmt.Errorf("decode condemned names: %w", segment.ErrDamaged)
	}
	return Gone{d.ID, d.Names}, nil
}
