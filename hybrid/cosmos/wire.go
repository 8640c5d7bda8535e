package cosmos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// wire is the transport of the clients that [Connect] makes. It makes each request once:
// what the SDK, whose policies cannot be left out, or net/http would repeat goes past them
// as an [unrepeated]. But it lets the SDK go to another region, once for a call, where one
// refuses a request or takes no connection. It tells the [trip] of a request of each byte that
// moves and of each request that is made, and lets no answer through that is not from the service.
type wire struct{ next policy.Transporter }

// newWire returns a wire over the caller's transport, which may be nil. The SDK's own one
// ends a transfer after 65 s, however it goes on.
func newWire(next policy.Transporter) *wire {
	if next == nil {
		transport := http.DefaultTransport
		if t, ok := transport.(*http.Transport); ok {
			t = t.Clone()
			t.MaxIdleConnsPerHost = t.MaxIdleConns // all are to one host
			transport = t
		}
		next = &http.Client{Transport: transport}
	}
	return &wire{next}
}

// Do makes a request.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	t := tripOf(r.Context())
	data := t
	if isAccount(r) {
		data = nil // the SDK may make it beside the trip
	}
	var used atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { used.Store(c.Reused) }}
	out := r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	if out.Body == nil {
		out.Body = http.NoBody
	}
	out.Body = &moving{out.Body, data} // also where there is none: net/http repeats a request without a body
	start := time.Now()
	data.moves()
	answer, err := w.next.Do(out)
	t.made(r, start, answer)
	if err != nil && undialed(err) && data.goesOn() {
		refusal := jsonAnswer(r, nil) // by which the SDK goes on as it does from a region that refuses
		refusal.StatusCode, refusal.Header = http.StatusForbidden, http.Header{http.CanonicalHeaderKey(headerSub): {noAccount}}
		return refusal, nil
	}
	if err != nil {
		return nil, &unrepeated{err, used.Load()}
	}
	if err := checkService(answer); err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	t.heard()
	answer.Body = &moving{answer.Body, data}
	if repeated(answer) && !(answer.StatusCode == http.StatusForbidden && data.goesOn()) {
		_, err := io.Copy(io.Discard, answer.Body) // so that the connection serves on
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return nil, err
		}
		return nil, &unrepeated{outcome: azruntime.NewResponseErrorWithErrorCode(answer, answer.Status)}
	}
	return answer, nil
}

// repeated reports whether the SDK makes a request again for its answer.
func repeated(answer *http.Response) bool {
	switch sub := answer.Header.Get(headerSub); answer.StatusCode {
	case http.StatusForbidden:
		return sub == noWrites || sub == noAccount
	case http.StatusNotFound:
		return sub == notYet
	}
	return slices.Contains([]int{408, 500, 502, 503, 504}, answer.StatusCode)
}

// unrepeated is an outcome of which the SDK does not see what it is.
type unrepeated struct {
	outcome error
	stale   bool // there was no answer on a connection that had served before
}

func (u *unrepeated) Error() string {
	if e := (*azcore.ResponseError)(nil); errors.As(u.outcome, &e) {
		return fmt.Sprint("status ", e.StatusCode) // its own text is the answer's
	}
	return u.outcome.Error()
}

// NonRetriable tells the SDK to make the request once.
func (*unrepeated) NonRetriable() {}

// outcome returns what an error of the SDK's client hides.
func outcome(err error) (_ error, stale bool) {
	if u := (*unrepeated)(nil); errors.As(err, &u) {
		return u.outcome, u.stale
	}
	return err, false
}

// moving is the body of a request or answer. It tells the trip of what moves.
type moving struct {
	io.ReadCloser
	trip *trip
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if m.trip.moved(); err != nil && err != io.EOF {
		err = &unrepeated{outcome: err}
	}
	return n, err
}

// jsonAnswer returns an answer that no server gave.
func jsonAnswer(to *http.Request, body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: to,
	}
}
