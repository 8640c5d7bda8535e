package hybrid

import (
	"context"
	"net/http"
	"time"
)

// Observer is told what the copying does, for traces and metrics; what the
// store itself does is told to the Observer of Options.Store. Its methods are
// called by whoever did it, by many goroutines at once; they must not block nor
// call the store. What it is told never holds content.
type Observer interface {
	// Visited tells that a session was brought into step, or that it was
	// tried: by the worker or by a call, whose ctx it is.
	Visited(ctx context.Context, v Visit)
	// Requested tells of each request to the account, those of visits and of
	// everything else.
	Requested(ctx context.Context, r Request)
}

// Visit is one look at a session and what was done about it.
type Visit struct {
	Session      string
	State        string // as in [Status]
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
	Err          error   // that of a document that is missing, or was changed by another device, too
}

// requested tells the observer of a request and its answer.
func (l *link) requested(ctx context.Context, start time.Time, answer *http.Response, v verdict, charge float64) {
	if l.observer == nil {
		return
	}
	status := v.status
	if answer != nil {
		status = answer.StatusCode
	}
	l.observer.Requested(ctx, Request{Start: start, Status: status, RequestUnits: charge, Err: v.err})
}

// visited tells the observer what a visit did.
func (v *visit) visited(ctx context.Context, start time.Time) {
	o := v.opts.Observer
	if o == nil {
		return
	}
	used := v.link.used
	o.Visited(ctx, Visit{
		Session: v.id, State: v.out.state, Start: start, Pull: v.pull,
		Segments: v.out.segments, Requests: used.requests, Bytes: used.bytes, RequestUnits: used.charge, Err: v.out.err,
	})
}
