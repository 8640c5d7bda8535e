package tip

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// A Tip is the head document of a session.
type Tip struct {
	SID      string
	Revision int64 // 1 for the first
	User     string
	Session  string
	Project  string
	Parent   string // "" for none
	Born     string // 16 hexadecimal digits drawn by who made the first revision, kept for ever: a session made anew has others

	Transcript Reach
	Logs       map[segment.Stream]Reach
	Files      map[string]File // by name: metadata.json, config.md, session-state.json …
	From       *From           // of a fork: where its transcript begins

	Old        []Old    // former tips, the latest last; at most [MaxOld]
	Branches   []Branch // at most [MaxBranches]
	OldMore    []string // ids of documents with those that had no room
	BranchMore []string

	Op        string // names the change that made this revision: a lost answer is told by it
	Writer    Writer
	Redaction string // version of the rules that its last lines went through; "" for none
	Deleted   bool
	TTL       int       // seconds until the service removes a tombstone; 0 for never
	Updated   time.Time // time of the session's last change by the writer's clock, for lists: no decision is made with it
}

// A Reach says how far a stream is stored.
type Reach struct {
	N       int64        `json:"n"`
	Hash    segment.Hash `json:"h"`
	Bytes   int64        `json:"bytes"`   // of its lines, each with its LF
	Buckets int          `json:"buckets"` // how many partitions may hold segments of it
	Turns   int          `json:"turns,omitempty"`
}

// Point returns the history that is stored.
func (r Reach) Point() segment.Point { return segment.Point{N: r.N, Hash: r.Hash} }

// ReachOf returns how far a stream is stored once everything before m is.
func ReachOf(m segment.Mark) Reach {
	return Reach{N: m.N, Hash: m.Hash, Bytes: m.Bytes, Buckets: segment.Bucket(m.N, m.Bytes) + 1, Turns: m.Turn}
}

// A File is a small file of the session, whole, with the time of its change.
type File struct {
	segment.Blob
	Clock   HLC             `json:"hlc,omitzero"`
	Summary json.RawMessage `json:"doc,omitempty"` // what queries and lists need of it
}

// A From says that the first lines are those of another session, up to a point
// on its history. The streams of a fork hold the lines behind it.
type From struct {
	SID string `json:"sid"`
	segment.Point
	Bytes   int64 `json:"bytes"`
	Buckets int   `json:"buckets"`
}

// An Old is a former tip that a rewrite replaced. It can be restored as long as
// its segments are kept.
type Old struct {
	segment.Point
	Bytes   int64     `json:"bytes"`
	Buckets int       `json:"buckets"`
	Why     string    `json:"why"`
	Device  string    `json:"dev"`
	At      time.Time `json:"at"`
}

// A Branch is a history that a device had when the tip went another way.
type Branch struct {
	ID     string        `json:"id"`
	Tip    segment.Point `json:"tip"`
	Common int64         `json:"common"` // records that it shares with the tip it left
	Device string        `json:"dev"`
	KeptAs string        `json:"kept_as,omitempty"` // id of the local fork
	At     time.Time     `json:"at"`
}

// A Writer says who wrote a tip.
type Writer struct {
	Device  string `json:"dev"`
	Host    string `json:"host,omitempty"`
	Library string `json:"lib,omitempty"`
}

// Limits of the lists in a tip: it stays about a kilobyte.
const (
	MaxOld      = 8
	MaxBranches = 8
)

// Retire notes a former tip. What no longer has room is returned, the oldest
// first: it is to be stored in a document of its own, named in OldMore.
func (t *Tip) Retire(o Old) (overflow []Old) {
	t.Old = slices.DeleteFunc(slices.Clone(t.Old), func(p Old) bool { return p.Point == o.Point })
	t.Old = append(t.Old, o)
	if n := len(t.Old) - MaxOld; n > 0 {
		overflow, t.Old = t.Old[:n:n], slices.Clone(t.Old[n:])
	}
	return overflow
}

// Branch notes a branch, in the place of the one with the id replaces if there
// is such. What no longer has room is returned as by [Tip.Retire].
func (t *Tip) Branch(b Branch, replaces string) (overflow []Branch) {
	t.Branches = slices.DeleteFunc(slices.Clone(t.Branches), func(c Branch) bool {
		return c.ID == b.ID || c.ID == replaces
	})
	t.Branches = append(t.Branches, b)
	if n := len(t.Branches) - MaxBranches; n > 0 {
		overflow, t.Branches = t.Branches[:n:n], slices.Clone(t.Branches[n:])
	}
	return overflow
}

// Tombstone returns the tip of the removed session: the same numbers, one
// revision on. The service removes it after ttl.
func (t *Tip) Tombstone(ttl time.Duration) *Tip {
	dead := *t
	dead.Revision++
	dead.Deleted, dead.TTL = true, int(ttl/time.Second)
	return &dead
}

// Clone returns a copy that shares nothing that changes.
func (t *Tip) Clone() *Tip {
	c := *t
	c.Logs = make(map[segment.Stream]Reach, len(t.Logs))
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
