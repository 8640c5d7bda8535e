package cosmostest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// An Interposer is a transport that puts faults between a client and another
// server than a [Server]. It knows all faults but Stale, Page and Echo, which
// do nothing here.
type Interposer struct {
	next    http.RoundTripper
	observe func(Record)
	gate    *gate
}

// Interpose returns a way to the server that next leads to. Of the options it
// uses Now, Sleep and Observe.
func Interpose(next http.RoundTripper, o *Options) *Interposer {
	if o == nil {
		o = &Options{}
	}
	return &Interposer{next: next, observe: o.Observe, gate: newGate(*o)}
}

// Inject makes p the plan of faults for the requests from now on; nil is none.
func (i *Interposer) Inject(p Plan) { i.gate.inject(p) }

// Do is RoundTrip.
func (i *Interposer) Do(r *http.Request) (*http.Response, error) { return i.RoundTrip(r) }

// RoundTrip passes a request on as its fault says. Broken connections are
// those of [Transport.RoundTrip].
func (i *Interposer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	c, _ := route(r)
	c.Body = body
	i.gate.arrive(c, nil)
	record := Record{Request: c.Request, Received: len(body), Fault: c.fault}
	defer func() { i.gate.tell(i.observe, record) }()
	if err := i.gate.wait(r.Context(), c); err != nil {
		return nil, asReset(err)
	}
	answer, err := i.pass(r, c)
	if err != nil {
		return nil, err
	}
	if err := i.gate.lose(r.Context(), c); err != nil {
		return nil, asReset(err)
	}
	record.Status, record.Sent = answer.StatusCode, int(answer.ContentLength)
	record.SubStatus, _ = strconv.Atoi(answer.Header.Get("x-ms-substatus"))
	record.Charge, _ = strconv.ParseFloat(answer.Header.Get("x-ms-request-charge"), 64)
	return answer, nil
}

// pass sends a request once or twice and reads its answer to the end, or
// refuses it.
func (i *Interposer) pass(r *http.Request, c *call) (*http.Response, error) {
	if c.fault.Status != 0 {
		a := c.refusal()
		a.finish(c)
		return a.response(r), nil
	}
	first, err := i.send(r, c.Body)
	if err != nil || !c.fault.Duplicate && !c.fault.Retried {
		return first, err
	}
	second, err := i.send(r, c.Body)
	if c.fault.Duplicate {
		return first, nil
	}
	return second, err
}

func (i *Interposer) send(r *http.Request, body []byte) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.GetBody = nil
	if r.Body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	answer, err := i.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(answer.Body)
	if closing := answer.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return answer, nil
}
