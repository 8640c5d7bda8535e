package head

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// A Head is the document of a session that says which history counts.
type Head struct {
	SID      string
	Revision int64 // 1 for the first
	User     string
	Session  string
	Project  string
	Parent   string // "" for none
	Born     string // 16 hexadecimal digits drawn by who made the first revision, kept for ever: a session made anew has others

	Transcript Extent
	Logs       map[segment.Stream]Extent
	Files      map[string]File // by name: metadata.json, config.md, session-state.json …

	Histories Histories // former heads and branches, which have documents of their own
	Gone      []string  // ids of documents with condemned names; see [Gone]
	Fence     string    // drawn by who last changed what leads to what, and no line; "" for nobody

	Op        string // names the change that made this revision: a lost answer is told by it
	Writer    Writer
	Redaction string // version of the rules that its last lines went through; "" for none
	Anew      Anew   // what it took the place of
	Deleted   bool
	Updated   time.Time // time of the session's last change by the writer's clock, for lists: no decision is made with it
}

// A File is a small file of the session, whole, with the time of its change.
type File struct {
	segment.Blob
	Clock   HLC             `json:"hlc,omitzero"`
	Summary json.RawMessage `json:"doc,omitempty"` // what queries and lists need of it
}

// A Writer says who wrote a head.
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
// and no files or histories. It has a fence, so that another one needs no room.
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
