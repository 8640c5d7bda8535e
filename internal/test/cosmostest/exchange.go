package cosmostest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
)

// ServeHTTP serves a request that came over a network. To break the connection, it closes
// it without an answer; where the connection cannot be had, as with HTTP/2, the answer is
// the status of a broken gateway.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := s.exchange(r)
	if err == nil {
		maps.Copy(w.Header(), a.header)
		if a.status == http.StatusNotModified || a.status == http.StatusNoContent {
			w.Header().Del("Content-Length")
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = conn.Close()
}

// A Transport reaches a [Server] without a network, goroutines or timers, for Azure's clients.
type Transport struct {
	server *Server
}

// Transport returns a way to the server that may be used concurrently.
func (s *Server) Transport() *Transport { return &Transport{s} }

// Do serves a request. A broken connection is a [net.OpError] with ECONNRESET, a
// context that ends before the answer is its error.
func (t *Transport) Do(r *http.Request) (*http.Response, error) {
	a, err := t.server.exchange(r)
	if errors.Is(err, errBroken) {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status:        strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.header,
		Body:          io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)),
		Request:       r,
	}, nil
}

// exchange takes a request and returns the answer, or errBroken or the error of the context.
// The record is made in all cases.
func (s *Server) exchange(r *http.Request) (*answer, error) {
	c, refused, err := newCall(r)
	if err != nil {
		return nil, err
	}
	s.arrive(c)
	a, err := s.undergo(r.Context(), c, refused)
	record, changed := Record{Request: c.Request}, []written(nil)
	if a != nil {
		record.Charge, record.Written, changed = a.charge, len(a.written), a.written
	}
	if err == nil {
		record.Status, record.Sent = a.status, len(a.body)
	}
	s.mu.Lock()
	s.counters.add(record, changed)
	s.mu.Unlock()
	if s.options.Observe != nil {
		s.arrival.Lock()
		defer s.arrival.Unlock()
		s.options.Observe(record)
	}
	return a, err
}

// Inject makes p the plan of faults for the requests from now on; nil is none.
func (s *Server) Inject(p Plan) {
	s.arrival.Lock()
	defer s.arrival.Unlock()
	s.plan = p
}

// arrive numbers a call and gives it its fault. It also serves the requests that come once
// more after this one.
func (s *Server) arrive(c *call) {
	s.arrival.Lock()
	defer s.arrival.Unlock()
	s.n++
	c.N, c.At = s.n, s.options.Now()
	if s.plan != nil {
		c.fault = s.plan(c.Request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.echoes = slices.DeleteFunc(s.echoes, func(e echo) bool {
		if e.due > c.N {
			return false
		}
		e.call.At = c.At
		s.serve(e.call)
		return true
	})
}

// errBroken says that the connection breaks: no answer comes.
var errBroken = errors.New("connection broken")

// undergo serves a call with its fault. The answer is not nil when the call was applied or
// refused; with an error it is lost.
func (s *Server) undergo(ctx context.Context, c *call, refused *answer) (*answer, error) {
	if d := c.fault.Delay; d > 0 {
		if err := s.options.Sleep(ctx, d); err != nil {
			return nil, err
		}
		c.At = s.options.Now()
	}
	if c.fault.Drop {
		return nil, errBroken
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := s.settle(c, refused)
	if d := c.fault.Hold; d > 0 {
		if err := s.options.Sleep(ctx, d); err != nil {
			return a, err
		}
	}
	if c.fault.Lose {
		return a, errBroken
	}
	return a, nil
}

// settle serves a call once or twice, or refuses it.
func (s *Server) settle(c *call, refused *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := refused
	switch {
	case c.fault.Status != 0:
		a = c.refusal()
	case refused == nil:
		a = s.serve(c)
		if c.fault.Duplicate {
			s.serve(c)
		}
		if c.fault.Retried {
			a = s.serve(c)
		}
		if c.fault.Echo > 0 {
			again := *c
			s.echoes = append(s.echoes, echo{c.N + c.fault.Echo, &again})
		}
	}
	return a.set("Content-Type", "application/json").
		set("x-ms-request-charge", strconv.FormatFloat(a.charge, 'f', 2, 64)).
		set("x-ms-gatewayversion", "version=2.14.0").
		set("Content-Length", strconv.Itoa(len(a.body))).
		set("Date", c.At.UTC().Format(http.TimeFormat)).
		set("x-ms-activity-id", c.header.Get("x-ms-activity-id"))
}

// refusal is the answer that a fault puts in the place of the server's.
func (c *call) refusal() *answer {
	a := failSub(c.fault.Status, c.fault.SubStatus, "refused by a fault").retry(c.fault.RetryAfter)
	if c.fault.Operation == 0 || c.Op != OpBatch {
		return a
	}
	ops, no := parseBatch(c.Body)
	if no != nil {
		return no
	}
	results := make([]*answer, min(c.fault.Operation, len(ops)))
	results[len(results)-1] = a
	return batchAnswer(results, len(ops))
}

// serve answers a call in the way of the service, without faults of the connection. The
// caller holds mu.
func (s *Server) serve(c *call) *answer {
	if a := authorize(c, s.options.AAD); a != nil {
		return a
	}
	if len(c.Body) > maxItem {
		return fail(http.StatusRequestEntityTooLarge, "Request size is too large")
	}
	switch c.Op {
	case OpAccount:
		return s.accountAnswer(c)
	case OpControl:
		return s.control(c)
	}
	box, err := s.find(c.Database, c.Container)
	switch {
	case err != nil:
		return fail(http.StatusNotFound, "Owner resource does not exist")
	case c.At.Before(box.splitting):
		return failSub(http.StatusGone, subCompletingSplit, "The partition is completing a split")
	}
	key, no := parseKey(c.header.Get(keyHeader))
	switch {
	case no != nil:
		return no
	case c.Op == OpQuery:
		return s.query(c, box, key)
	case c.Op == OpBatch:
		return s.batch(c, box, key)
	}
	return s.item(c, box, key)
}
