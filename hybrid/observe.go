package hybrid

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Observer is told what the copying does, for traces and metrics; what the
// store itself does is told to the Observer of Options.Store. Its methods are
// called by whoever did it, by many goroutines at once; they must not block nor
// call the store. What it is told never holds content.
type Observer interface {
	// SessionSynced tells that a session was brought into step, or that it was
	// tried: by the worker or by a call, whose ctx it is.
	SessionSynced(ctx context.Context, v SessionSync)
	// Requested tells of each request to the account, those of syncs and of
	// everything else.
	Requested(ctx context.Context, r Request)
}

// SessionSync is one sync of one session: what was done, how it ended, and what it cost.
type SessionSync struct {
	Session      string
	State        State
	Did          Outcome
	Start        time.Time
	Pull         bool // it was to fetch, not to send
	Segments     int  // stored
	Requests     int
	Bytes        int64 // of the documents sent
	RequestUnits float64
	Err          error
}

// Request is one request and its answer.
type Request struct {
	Start        time.Time
	Status       int     // of HTTP; 0: there was no answer
	RequestUnits float64 // zero where the answer does not tell
	Err          error   // also when a document is missing or another device changed it
}

// observeRequests returns what tells an observer of requests; nil for none.
func observeRequests(o Observer) func(context.Context, remote.Request) {
	if o == nil {
		return nil
	}
	return func(ctx context.Context, r remote.Request) {
		o.Requested(ctx, Request{Start: r.Start, Status: r.Status, RequestUnits: r.Units, Err: r.Err})
	}
}

// observe tells the observer of a sync.
func (e *engine) observe(ctx context.Context, v SessionSync) {
	if o := e.opts.Observer; o != nil {
		o.SessionSynced(ctx, v)
	}
}
