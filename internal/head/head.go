package head

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
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

	Old        []Old    // former heads, the latest last; at most [MaxOld]
	Branches   []Branch // at most [MaxBranches]
	OldMore    []string // ids of documents with those that had no room
	BranchMore []string

	Op        string // names the change that made this revision: a lost answer is told by it
	Writer    Writer
	Redaction string // version of the rules that its last lines went through; "" for none
	Anew      Anew   // what it took the place of
	Deleted   bool
	TTL       int       // seconds until the service removes a tombstone; 0 for never
	Updated   time.Time // time of the session's last change by the writer's clock, for lists: no decision is made with it
}

// A File is a small file of the session, whole, with the time of its change.
type File struct {
	segment.Blob
	Clock   HLC             `json:"hlc,omitzero"`
	Summary json.RawMessage `json:"doc,omitempty"` // what queries and lists need of it
}

// An Old is a former head that a rewrite replaced. It can be restored as long as
// its segments are kept.
type Old struct {
	segment.Point
	Bytes  int64     `json:"bytes"`
	Why    string    `json:"why"`
	Device string    `json:"dev"`
	At     time.Time `json:"at"`
	Rules  []Rules   `json:"red,omitempty"` // as in [Extent]
}

// A Branch is a history that a device had when the head went another way.
type Branch struct {
	ID     string        `json:"id"`
	Tip    segment.Point `json:"tip"`
	Common int64         `json:"common"` // records that it shares with the head it left
	Device string        `json:"dev"`
	KeptAs string        `json:"kept_as,omitempty"` // id of the local fork
	At     time.Time     `json:"at"`
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

// Limits of the lists in a head: it stays about a kilobyte.
const (
	MaxOld      = 8
	MaxBranches = 8
)

// Retire notes a former head. What no longer has room is returned, the oldest
// first: it is to be stored in a document of its own, named in OldMore.
func (t *Head) Retire(o Old) (overflow []Old) {
	t.Old = slices.DeleteFunc(slices.Clone(t.Old), func(p Old) bool { return p.Point == o.Point })
	t.Old = append(t.Old, o)
	if n := len(t.Old) - MaxOld; n > 0 {
		overflow, t.Old = t.Old[:n:n], slices.Clone(t.Old[n:])
	}
	return overflow
}

// Branch notes a branch, in the place of those with the ids in replaced, as far as
// they are here. What no longer has room is returned as by [Head.Retire].
func (t *Head) Branch(b Branch, replaced []string) (overflow []Branch) {
	t.Branches = slices.DeleteFunc(slices.Clone(t.Branches), func(c Branch) bool {
		return c.ID == b.ID || slices.Contains(replaced, c.ID)
	})
	t.Branches = append(t.Branches, b)
	if n := len(t.Branches) - MaxBranches; n > 0 {
		overflow, t.Branches = t.Branches[:n:n], slices.Clone(t.Branches[n:])
	}
	return overflow
}

// Tombstone returns the head of the removed session: the same numbers, one
// revision on. The service removes it after ttl.
func (t *Head) Tombstone(ttl time.Duration) *Head {
	dead := *t
	dead.Revision++
	dead.Deleted, dead.TTL = true, int(ttl/time.Second)
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
	c.Old, c.Branches = slices.Clone(t.Old), slices.Clone(t.Branches)
	c.OldMore, c.BranchMore = slices.Clone(t.OldMore), slices.Clone(t.BranchMore)
	return &c
}
