package sessionstore

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Observer is told what a store does, for traces and metrics. Its methods are
// called by whoever did it, by many goroutines at once; they must not block nor
// call the store. What it is told never holds content.
type Observer interface {
	// Called tells of a call that has ended. ctx is the caller's.
	Called(ctx context.Context, c Call)
	// Wrote tells that so many bytes were written to a file, and Synced that a
	// file or a directory was synced.
	Wrote(bytes int)
	Synced()
}

// Call is a call of a store that lists, reads or writes. Those of the packages
// that keep files beside a transcript have the Op "change".
type Call struct {
	Op        string // as in [Error]
	Session   string // empty when no one session is concerned
	Start     time.Time
	Recovered bool  // a backup was read in the place of a damaged file
	Err       error // what the call returned
}

// observing returns hooks, made to tell o what is written and synced.
func observing(hooks *seam.Seam, o Observer) *seam.Seam {
	if o == nil {
		return hooks
	}
	var s seam.Seam
	if hooks != nil {
		s = *hooks
	}
	then := s.After
	s.After = func(op seam.Op) {
		switch op.Kind {
		case seam.Write:
			o.Wrote(len(op.Data))
		case seam.Sync, seam.SyncDir:
			o.Synced()
		}
		if then != nil {
			then(op)
		}
	}
	return &s
}
