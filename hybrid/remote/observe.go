package remote

import (
	"context"
	"time"
)

// Request is one request that an implementation made, and its answer.
type Request struct {
	Start  time.Time
	Status int     // of HTTP; 0: there was no answer, or it has none
	Units  float64 // its cost, where the service counts that
	Err    error
}

type observerKey struct{}

// Observed returns ctx for calls that report their requests to f, which is called by many
// goroutines.
func Observed(ctx context.Context, f func(Request)) context.Context {
	return context.WithValue(ctx, observerKey{}, f)
}

// Observe reports a request to the observer of a call's ctx, if it has one.
// Implementations call it for each request that they make.
func Observe(ctx context.Context, r Request) {
	if f, ok := ctx.Value(observerKey{}).(func(Request)); ok {
		f(r)
	}
}

type listenerKey struct{}

// Listened returns ctx for calls that call f when an answer of the remote begins. f is
// called by many goroutines.
func Listened(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, listenerKey{}, f)
}

// Heard calls the listener of a call's ctx, if it has one, when an answer of the remote
// begins. Implementations call it where the rest of an answer may take long, and where
// the error of a call does not show that there was an answer.
func Heard(ctx context.Context) {
	if f, ok := ctx.Value(listenerKey{}).(func()); ok {
		f()
	}
}
