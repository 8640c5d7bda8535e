package head

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// A Catalogue entry is the part of a session that the list of a user's sessions shows. It
// is made of the head, may lag behind it, and can be made again at any time. An entry
// replaces another only when its revision is greater.
type Catalogue struct {
	SID      string
	UID      string
	Revision int64
	Session  string
	Project  string
	Parent   string // as of [Head]
	Name     string
	Updated  time.Time
	N        int64 // messages
	Turns    int
	Deleted  bool
	Conflict bool // the head has branches
}

type catalogueLabel struct {
	Type     string    `json:"type"`
	V        int       `json:"v"`
	Revision int64     `json:"rev"`
	Session  string    `json:"session_id"`
	Project  string    `json:"project"`
	Parent   string    `json:"parent_id,omitempty"`
	Name     string    `json:"name"`
	Updated  time.Time `json:"updated"`
	N        int64     `json:"n"`
	Turns    int       `json:"turns"`
	Deleted  bool      `json:"deleted"`
	Conflict bool      `json:"conflict"`
}

// Catalogue returns the entry of t for the user uid. The name is the name in the
// session's metadata.
func (t *Head) Catalogue(uid, name string) Catalogue {
	return Catalogue{
		SID: t.SID, UID: uid, Revision: t.Revision, Session: t.Session, Project: t.Project, Parent: t.Parent, Name: name,
		Updated: t.Updated, N: t.Transcript.N, Turns: t.Transcript.Turns, Deleted: t.Deleted, Conflict: len(t.Histories.Branches) > 0,
	}
}

// Encode returns the document of c.
func (c *Catalogue) Encode() (segment.Document, error) {
	d := catalogueLabel{
		Type: TypeCatalogue, V: segment.Version, Revision: c.Revision,
		Session: c.Session, Project: c.Project, Parent: c.Parent, Name: c.Name, Updated: c.Updated.UTC(), N: c.N, Turns: c.Turns,
		Deleted: c.Deleted, Conflict: c.Conflict,
	}
	label, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode catalogue entry: %w", err)
	}
	return segment.Document{ID: c.SID, PK: segment.UserPK(c.UID), Type: d.Type, Label: label}, nil
}

// DecodeCatalogue reads the label of the entry of session sid. uid names the catalogue. Errors
// are as of [Decode].
func DecodeCatalogue(sid string, label []byte, uid string) (Catalogue, error) {
	var d catalogueLabel
	err := json.Unmarshal(label, &d)
	if probed := segment.Probe(label, TypeCatalogue); probed != nil {
		return Catalogue{}, fmt.Errorf("entry of session %q in the catalogue: %w", limits.ID(d.Session), probed)
	}
	if err != nil || d.Revision < 1 || d.N < 0 {
		return Catalogue{}, fmt.Errorf("decode catalogue entry: %w", segment.ErrDamaged)
	}
	return Catalogue{
		SID: sid, UID: uid, Revision: d.Revision, Session: d.Session, Project: d.Project, Parent: d.Parent, Name: d.Name,
		Updated: d.Updated, N: d.N, Turns: d.Turns, Deleted: d.Deleted, Conflict: d.Conflict,
	}, nil
}
