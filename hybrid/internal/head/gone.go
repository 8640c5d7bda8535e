package head

import (
	"encoding/json"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
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
	Type  string   `json:"type"`
	V     int      `json:"v"`
	Names []string `json:"names"`
}

// Encode returns the document of g, which belongs to session sid.
func (g *Gone) Encode(sid string) (segment.Document, error) {
	d := goneDoc{TypeGone, segment.Version, g.Names}
	body, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode condemned names: %w", err)
	}
	return segment.Document{ID: g.ID, PK: segment.SessionPK(sid), Type: TypeGone, Label: segment.Label(TypeGone), Body: body}, nil
}

// DecodeGone reads a document with condemned names. Errors are as of [Decode].
func DecodeGone(id string, body []byte) (Gone, error) {
	var d goneDoc
	err := json.Unmarshal(body, &d)
	if probed := segment.Probe(body, TypeGone); probed != nil {
		return Gone{}, fmt.Errorf("decode condemned names: %w", probed)
	}
	if err != nil {
		return Gone{}, fmt.Errorf("decode condemned names: %w", segment.ErrDamaged)
	}
	return Gone{id, d.Names}, nil
}
