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

type (
	listenerKey struct{}
	moverKey    struct{}
)

// Listened returns ctx for calls that call f for each part of an answer that comes. f is
// called by many goroutines.
func Listened(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, listenerKey{}, f)
}

// Heard calls the function that [Listened] gave a call's ctx, if it has one. Implementations
// call it when an answer of the remote begins, and for each further part: a block of a body,
// a page of a list. See Silence in the package's documentation.
func Heard(ctx context.Context) {
	if f, ok := ctx.Value(listenerKey{}).(func()); ok {
		f()
	}
}

// Moving returns ctx for calls that call f when a part of a request moves. f is called by many
// goroutines.
func Moving(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, moverKey{}, f)
}

// Moved calls the function that [Moving] gave a call's ctx, if it has one. Implementations
// call it when they begin a request, and for each block of it that is on its way: that is not
// yet an answer.
func Moved(ctx context.Context) {
	if f, ok := ctx.Value(moverKey{}).(func()); ok {
		f()
	}
}
