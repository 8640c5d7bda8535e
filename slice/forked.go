package slice

import (
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ForkOptions say what [Fork] makes. The zero value forks at the last turn, as
// the newest CLI does, without the events, and completes calls without a result.
type ForkOptions struct {
	Turn    *int    // from 1; nil: the last turn
	NewID   string  // empty: a new UUID
	Events  bool    // copy the events up to the turn
	Older   bool    // write the metadata of the tools before September 2026, see [Fork]
	Damaged string  // name of a damaged file, see [sessionstore.SalvageFork]: its messages are forked instead of the transcript's
	Orphans Orphans // what is done with calls that have no result
}

// Forked tells what [Fork] made.
type Forked struct {
	ID       string // of the new session
	ParentID string // of the parent's directory; with Older its session_id, if it has one, and empty if that is no string
	Turn     int    // the last turn that was copied
	Messages int    // number of messages of the new session
	Events   int    // number of events that were copied

	// CostKnown tells that the new session knows what the turns that it inherits
	// have cost. CostProblems tells why it does not, in the words of the newest
	// tools; it is empty with Older.
	CostKnown    bool
	CostProblems []string

	SkippedLines  int                    // rows of the parent that are no objects
	SkippedEvents int                    // lines of its log that are no events, or whose time cannot be read
	Recovered     *sessionstore.Recovery // not nil: a file of the parent is damaged, and its backup was read instead
	Damage        error                  // not nil: the parent is damaged and no backup is good; what can be read was forked
}
