package head

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// A Head is the document of a session that says which history counts.
type Head struct {
	SID      string
	Revision int64 // 1 for the first
	User     string
	Session  string
	Project  string
	Parent   string // "" for none
	Born     string // 16 hexadecimal digits drawn for the first revision, kept for ever: a session made anew has others

	Transcript Extent
	Logs       map[segment.Stream]Extent
	Files      map[string]File // by name: metadata.json, config.md, session-state.json …

	Histories Histories // former heads and branches, which have documents of their own
	Gone      []string  // ids of documents with condemned names; see [Gone]
	Fence     string    // drawn by the last change of references alone, without a change of lines; "" for none

	Op        string // names the change that made this revision, to recognise it after a lost answer
	Writer    Writer
	Redaction string // version of the rules that its last lines went through; "" for none
	Anew      Anew   // the former session that it replaced
	Deleted   bool
	Updated   time.Time // time of the session's last change by the writer's clock, for lists: no decision is made with it
}

// A File is a small file of the session, whole, with the time of its change.
type File struct {
	segment.Blob
	Clock   HLC             `json:"hlc,omitzero"`
	Summary json.RawMessage `json:"doc,omitempty"` // the part that queries and lists need
}

// A Writer identifies the writer of a head.
type Writer struct {
	Device  string `json:"dev"`
	Host    string `json:"host,omitempty"`
	Library string `json:"lib,omitempty"`
}

// RulesOf returns the rules of the lines of a stream, in order.
func (t *Head) RulesOf(st segment.Stream) []Rules {
	r := t.Transcript
	if st != segment.Transcript {
		r = t.Logs[st]
	}
	if r.Rules == nil && r.N > 0 {
		return []Rules{{}}
	}
	return r.Rules
}

// AllUnder reports whether all lines of the transcript went through that version.
func (t *Head) AllUnder(version string) bool {
	return under(t.RulesOf(segment.Transcript), version)
}

// Tombstone returns the head of the removed session: the same numbers, one revision on,
// and no files or histories. It has a fence, so that a later fence needs no room.
func (t *Head) Tombstone() *Head {
	dead := *t
	dead.Revision++
	dead.Deleted, dead.Fence = true, strings.Repeat("0", 16)
	dead.Parent = ""
	dead.Files, dead.Histories, dead.Gone = nil, Histories{}, nil
	return &dead
}

// Clone returns a copy that shares nothing that changes.
func (t *Head) Clone() *Head {
	c := *t
	c.Logs = make(map[segment.Stream]Extent, len(t.Logs))
	for s, r := range t.Logs {
		c.Logs[s] = r
	}
	c.Files = make(map[string]File, len(t.Files))
	for name, f := range t.Files {
		c.Files[name] = f
	}
	c.Gone = slices.Clone(t.Gone)
	c.Histories = Histories{slices.Clone(t.Histories.Former), slices.Clone(t.Histories.Branches)}
	return &c
}

// An Anew describes a session that was sent anew in the place of a former one.
type Anew struct {
	// Rules is the version of the rules that all of its lines and files went through, or
	// later ones; "" where the former session was deleted.
	Rules string `json:"v,omitempty"`
	// Was is the end of the transcript of the former session, and Now the same place
	// here. They are zero where that is not known.
	Was segment.Point `json:"was,omitzero"`
	Now segment.Point `json:"now,omitzero"`
}

// TypeGone is the type of the documents that condemn others.
const TypeGone = "gone"

// A Gone condemns documents of a session: they are removed once a head leads to it, and
// no later head may come to need them. It is removed after them, in the request that
// makes a head which does not lead to it.
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

// Summary returns the members of a file with that content that lists show; nil for none.
func Summary(name string, content []byte) []byte {
	if name != Metadata || pyjson.Check(content, pyjson.Strict) != nil {
		return nil
	}
	doc := []byte("{}")
	for _, member := range []string{"name", "bundle", "turn_count"} {
		if v, ok := pyjson.Lookup(content, member); ok && len(v) <= 256 && pyjson.KindOf(v) != pyjson.Object && pyjson.KindOf(v) != pyjson.Array {
			doc = pyjson.Splice(doc, member, v)
		}
	}
	return doc
}

// Description returns the description in metadata that the head itself holds; "" for none.
func (t *Head) Description() string {
	metadata := t.Files[Metadata].Text
	if pyjson.Check(metadata, pyjson.Strict) != nil {
		return ""
	}
	v, ok := pyjson.Lookup(metadata, "description")
	if !ok || pyjson.KindOf(v) != pyjson.String {
		return ""
	}
	return pyjson.Text(v)
}

// Name returns the name that the session's metadata gives it; "" for none.
func (t *Head) Name() string {
	name, ok := pyjson.Lookup(t.Files[Metadata].Summary, "name")
	if !ok || pyjson.KindOf(name) != pyjson.String {
		return ""
	}
	return pyjson.Text(name)
}
