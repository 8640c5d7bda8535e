package gc

import "time"

// Options say what Prune may do.
type Options struct {
	Grace     time.Duration // how old garbage must be, and what is read in its place, before it is removed
	Retention time.Duration // for how long former heads are kept; negative: for ever
	Plan      bool          // only tell what there is to do
}

const (
	// MaxFirstUpload is how long the first upload of a session may take. A writer
	// that takes longer begins again.
	MaxFirstUpload = 3 * 24 * time.Hour
	// firstGrace is the least age at which documents are removed that no head guards.
	firstGrace = 7 * 24 * time.Hour
)

// Result is what Prune did, or would do.
type Result struct {
	Merged   int // small segments that larger ones stand for now
	Segments int // the larger ones
	Expired  int // histories that were given up
	Removed  int // documents, also entries of the catalogue
	Waiting  int // documents that are garbage, but too young

	// Due is when there will be more to do though nothing changes; the zero time is
	// never.
	Due time.Time
}

// wait notes that there is something to do at a time.
func (r *Result) wait(until time.Time) {
	if r.Due.IsZero() || until.Before(r.Due) {
		r.Due = until
	}
}
