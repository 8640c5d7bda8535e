package cosmostest

import (
	"context"
	"io"
	"net/http"
	"slices"
)

// maxRequest is what is read of a body: more is refused unread.
const maxRequest = 2*maxItem + 1<<20

// exchange takes a request and returns the answer, or errBroken or the error
// of the context. The record is made in all cases.
func (s *Server) exchange(ctx context.Context, r *http.Request) (*answer, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	c, invalid := route(r)
	c.Body, c.header = body, r.Header.Clone()
	if invalid == nil {
		invalid = checkLength(r, body)
	}
	s.gate.arrive(c, func() { s.echo(c) })
	if err := s.gate.wait(ctx, c); err != nil {
		s.record(c, nil, false)
		return nil, err
	}
	a := s.settle(c, invalid)
	err = s.gate.lose(ctx, c)
	if s.record(c, a, err == nil); err != nil {
		return nil, err
	}
	return a, nil
}

// readBody reads all of a body, up to what no request may have.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	return io.ReadAll(io.LimitReader(r.Body, maxRequest))
}

func checkLength(r *http.Request, body []byte) *failure {
	switch {
	case len(body) >= maxRequest:
		return fail(http.StatusRequestEntityTooLarge, "Request size is too large")
	case r.ContentLength >= 0 && r.ContentLength != int64(len(body)) && (r.Body != nil || r.ContentLength > 0):
		return fail(http.StatusBadRequest, "The content length is not that of the body")
	}
	return nil
}

// echo serves what is to come once more when c arrives.
func (s *Server) echo(c *call) {
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

// settle serves a call once or twice, or refuses it.
func (s *Server) settle(c *call, invalid *failure) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a *answer
	switch {
	case c.fault.Status != 0:
		a = c.refusal()
	case invalid != nil:
		a = invalid.answer()
	default:
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
	a.finish(c)
	return a
}

// refusal is the answer that a fault puts in the place of the server's.
func (c *call) refusal() *answer {
	f := failSub(c.fault.Status, c.fault.SubStatus, "refused by a fault")
	f.retryAfter = c.fault.RetryAfter
	if c.fault.Operation == 0 || c.Op != OpBatch {
		return f.answer()
	}
	ops, invalid := parseBatch(c.Body)
	if invalid != nil {
		return invalid.answer()
	}
	results := make([]result, min(c.fault.Operation, len(ops)))
	results[len(results)-1].failure = f
	return batchAnswer(results, len(ops), len(results)-1, true)
}

// record counts a call and tells the observer. a is nil for what was not
// applied.
func (s *Server) record(c *call, a *answer, sent bool) {
	r := Record{Request: c.Request, Received: len(c.Body), Fault: c.fault}
	if a != nil {
		r.Charge, r.Written, r.Read = a.charge, len(a.written), a.read
	}
	if sent {
		r.Status, r.SubStatus, r.Sent = a.status, a.sub, len(a.body)
	}
	s.mu.Lock()
	s.counters.add(r, a)
	s.mu.Unlock()
	s.gate.tell(s.options.Observe, r)
}
