package cosmostest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"syscall"
)

// ServeHTTP serves a request that came over a network. A broken connection
// is one that is closed without an answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := s.exchange(r.Context(), r)
	if err != nil {
		breakConnection(w)
		return
	}
	maps.Copy(w.Header(), a.header)
	if a.status == http.StatusNotModified || a.status == http.StatusNoContent {
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// breakConnection closes the connection; where it cannot be had, as with
// HTTP/2, the answer is that of a broken gateway.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = conn.Close()
}

// A Transport reaches a [Server] without a network, goroutines or timers. It
// is an [http.RoundTripper], and by Do a transport of Azure's clients.
type Transport struct {
	server *Server
}

// Transport returns a way to the server that may be used concurrently.
func (s *Server) Transport() *Transport { return &Transport{s} }

// Do is RoundTrip.
func (t *Transport) Do(r *http.Request) (*http.Response, error) { return t.RoundTrip(r) }

// RoundTrip serves a request. A broken connection is a [net.OpError] with
// ECONNRESET, a context that ends before the answer is its error.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := t.server.exchange(r.Context(), r)
	if err != nil {
		return nil, asReset(err)
	}
	return a.response(r), nil
}

// asReset makes a broken connection what a client sees of it.
func asReset(err error) error {
	if errors.Is(err, errBroken) {
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return err
}

// response is the answer to r as a client gets it.
func (a *answer) response(r *http.Request) *http.Response {
	return &http.Response{
		Status:        strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.header.Clone(),
		Body:          io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)),
		Request:       r,
	}
}
