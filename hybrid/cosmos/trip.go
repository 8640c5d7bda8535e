package cosmos

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// idleTime is after how long without a byte in either direction a request ends.
const idleTime = 30 * time.Second

// trip is a request of a [Remote], from its beginning to the end of the answer. A nil
// trip, as of a request that no Remote makes, is told of nothing.
type trip struct {
	count  func(remote.Request) // takes each request that the SDK makes beside the last one
	ctx    context.Context      // of the request
	end    context.CancelCauseFunc
	began  time.Time
	idle   *time.Timer     // ends the trip when nothing moves; nil: no wire has begun the request
	wired  bool            // the client has a wire
	last   *remote.Request // that the wire made; nil: none
	beside func(*trip)     // takes the trip of a request for the account's regions; nil: the client prefers none
	stays  bool            // the request does not go to another region
}

type tripKey struct{}

func tripOf(ctx context.Context) *trip {
	t, _ := ctx.Value(tripKey{}).(*trip)
	return t
}

// setOut begins a trip, and returns the context for its request. The SDK keeps the values of a
// context where it drops its end.
func setOut(ctx context.Context, count func(remote.Request)) (*trip, context.Context) {
	t := &trip{count: count, began: time.Now()}
	t.ctx, t.end = context.WithCancelCause(ctx)
	return t, policy.WithRetryOptions(context.WithValue(t.ctx, tripKey{}, t), policy.RetryOptions{MaxRetries: -1})
}

// over ends the trip.
func (t *trip) over() {
	if t.idle != nil {
		t.idle.Stop()
	}
	t.end(errOver)
}

var errOver = errors.New("the request is over")

// moves notes that the wire begins the request, perhaps again: from now on something must
// move.
func (t *trip) moves() {
	if t == nil {
		return
	}
	if t.idle != nil {
		t.idle.Reset(idleTime)
		return
	}
	t.idle = time.AfterFunc(idleTime, func() {
		if t.ctx.Err() == nil { // the transport may read on after the trip
			t.end(remote.NoAnswer(idleTime))
		}
	})
}

// moved notes that a part of the request or of the answer moved.
func (t *trip) moved() {
	if t != nil {
		t.idle.Reset(idleTime)
	}
}

// heard tells that the account answers.
func (t *trip) heard() {
	if t != nil {
		remote.Heard(t.ctx)
	}
}

// goesOn reports whether the SDK may make the request, which a region did not take, in
// another one. For that it asks the account for its regions, beside the trip.
func (t *trip) goesOn() bool {
	if t == nil || t.beside == nil || t.stays || t.ctx.Err() != nil {
		return false
	}
	t.stays = true
	t.beside(&trip{count: t.count, ctx: context.WithoutCancel(t.ctx)})
	return true
}

// made notes that the wire made a request, and counts those of which the Conn does not know:
// it counts the last one, but not those for the account's properties, nor one that the SDK
// made again in another region, or with another token.
func (t *trip) made(r *http.Request, start time.Time, answer *http.Response) {
	if t == nil {
		return
	}
	one := remote.Request{Start: start, Err: remote.ErrUnreachable}
	if answer != nil {
		one = remote.Request{Start: start, Status: answer.StatusCode, Units: unitsOf(answer)}
	}
	if isAccount(r) {
		t.count(one)
		return
	}
	if t.last != nil {
		t.count(*t.last)
	}
	t.last = &one
}

// isAccount reports whether a request asks for the account's properties.
func isAccount(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "" || r.URL.Path == "/")
}
