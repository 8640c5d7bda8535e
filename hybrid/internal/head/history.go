package head

import (
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// The reasons for a history. A branch stays. The others are former heads, and logs in
// their state before they were cut, which gc gives up after their time.
const (
	WhyBranch  = "branch"  // a device had it when the head went another way
	WhyRewrite = "rewrite" // a rewrite replaced it, or its log was cut or replaced
	WhyRestore = "restore" // another history was restored in its place
)

// A History is a history that a session had and that is not its main line. It has a
// document of its own, which never changes, with a name that is never used twice. The
// document is stored before the head that names it, and removed after the head that no
// longer does.
type History struct {
	ID     string // of its document
	Stream segment.Stream
	Extent Extent
	Common int64 // records that it shares with the head that it left; 0 for unknown
	Why    string
	Device string // that wrote it, or replaced it
	KeptAs string // id of the local fork; "" for none
	At     time.Time
}

// Branch reports whether the history is a branch, and not a former head.
func (h *History) Branch() bool { return h.Why == WhyBranch }

// MaxFormer is the largest number of histories that are no branches in a head, so that it
// stays small. The change that adds one more drops the name of the oldest, whose document
// prune removes.
const MaxFormer = 1000

// Histories name the documents of histories that belong to a head: the drawn part of each
// name, the oldest first. A document of a history that no head names is no part of a
// session. Branches have no limit of their own: a remote that does not take a head with
// so many refuses the change, with remote.ErrTooLarge.
type Histories struct {
	Former   []string `json:"former,omitempty"`
	Branches []string `json:"branches,omitempty"`
}

// Len returns the number of histories.
func (s *Histories) Len() int { return len(s.Former) + len(s.Branches) }

// Has reports whether the document id is of one of the histories.
func (s *Histories) Has(id string) bool {
	return slices.Contains(s.Former, drawn(id)) || slices.Contains(s.Branches, drawn(id))
}

// Add names a history.
func (s *Histories) Add(h *History) {
	if h.Branch() {
		s.Branches = append(s.Branches, drawn(h.ID))
		return
	}
	s.Former = append(s.Former, drawn(h.ID))
	s.Former = s.Former[max(0, len(s.Former)-MaxFormer):]
}

// Drop names a history no more.
func (s *Histories) Drop(h *History) {
	is := func(name string) bool { return name == drawn(h.ID) }
	s.Former, s.Branches = slices.DeleteFunc(s.Former, is), slices.DeleteFunc(s.Branches, is)
}

// drawn returns the drawn part of the id of a history.
func drawn(id string) string {
	_, name, _ := strings.Cut(id, segment.HistoryID("", ""))
	return name
}
