package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// trip is a request, from its beginning to the end of the answer.
type trip struct {
	ctx    context.Context // of the request
	end    context.CancelCauseFunc
	began  time.Time
	sent   bool // the wire has begun the request
	method string
	swaps  bool        // it writes under a condition
	status int         // of the answer; 0: there was none
	header http.Header // of the answer
	stale  bool        // it was made on a connection that had served before
}

type tripKey struct{}

// setOut begins a trip, and returns the context for its request.
func setOut(ctx context.Context) (*trip, context.Context) {
	t := &trip{began: time.Now()}
	t.ctx, t.end = context.WithCancelCause(ctx)
	remote.Moved(ctx)
	return t, context.WithValue(t.ctx, tripKey{}, t)
}

// over ends the trip.
func (t *trip) over() { t.end(nil) }

// wire is the transport of the client. It makes each write once, and reports to the call each
// block that moves. It refuses the answer of something else than the service: a network that
// wants a sign-in, or a proxy, may answer in the place of every server, often with a page
// and the status 200. Such an answer says nothing about the bucket.
type wire struct{ next aws.HTTPClient }

// Do makes a request.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	t, ok := req.Context().Value(tripKey{}).(*trip)
	if !ok {
		return nil, errors.New("a request of no call")
	}
	var used atomic.Bool
	trace := httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { used.Store(c.Reused) }}
	out := req.WithContext(httptrace.WithClientTrace(req.Context(), &trace))
	if out.Body != nil && out.Body != http.NoBody {
		out.Body, out.GetBody = &moving{out.Body, t.ctx, remote.Moved, math.MaxInt64 - 1}, nil // net/http makes no request again whose body it cannot get
	}
	t.sent, t.method = true, req.Method
	t.swaps = req.Method == http.MethodPut && req.Header.Get("If-Match")+req.Header.Get("If-None-Match") != ""
	remote.Moved(t.ctx)
	answer, err := w.next.Do(out)
	t.stale = used.Load()
	if err != nil {
		return nil, err
	}
	if kind := answer.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/html") {
		_ = answer.Body.Close() // it is of no use
		return nil, fmt.Errorf("%w: a web page, with status %d", errElsewhere, answer.StatusCode)
	}
	if from := answer.Request; from != nil && from.Method != req.Method { // a client of the program's own followed a redirect
		_ = answer.Body.Close() // it is of no use
		return nil, fmt.Errorf("%w: a redirect to another request", errElsewhere)
	}
	t.status, t.header = answer.StatusCode, answer.Header
	remote.Heard(t.ctx)
	answer.Body = &moving{answer.Body, t.ctx, remote.Heard, maxContent}
	return answer, nil
}

// moving is the body of a request or answer. It tells of each block that moves, and ends with
// [remote.ErrTooLarge] when it has no room for more.
type moving struct {
	io.ReadCloser
	ctx  context.Context
	tell func(context.Context)
	room int64
}

func (m *moving) Read(p []byte) (int, error) {
	if m.room < 0 {
		return 0, fmt.Errorf("%w: an answer has more than %d bytes", remote.ErrTooLarge, maxContent)
	}
	n, err := m.ReadCloser.Read(p[:min(int64(len(p)), m.room+1)])
	m.tell(m.ctx)
	m.room -= int64(n)
	return n, err
}
