package cosmostest

import (
	"crypto/rand"
	"encoding/base64"
	"maps"
	"strings"
	"sync"
)

// A Server is an Azure Cosmos DB account in memory. It is an [http.Handler],
// and [Server.Transport] reaches it without a network. It may be used
// concurrently, starts no goroutines and needs no Close.
type Server struct {
	options Options
	key     []byte
	gate    *gate // its lock comes before mu

	mu        sync.Mutex // guards what follows
	databases map[string]*database
	removed   int // makes resource ids unique
	serial    int
	echoes    []echo
	counters  Counters
}

// New returns an empty account. A key that is no base64 is taken as it is.
func New(o *Options) *Server {
	s := &Server{databases: map[string]*database{}}
	if o != nil {
		s.options = *o
	}
	if s.options.Name == "" {
		s.options.Name = "account-" + strings.ToLower(rand.Text()[:12])
	}
	if s.options.Key == "" {
		s.options.Key = base64.StdEncoding.EncodeToString(make([]byte, 64))
	}
	s.gate = newGate(s.options)
	key, err := base64.StdEncoding.DecodeString(s.options.Key)
	if err != nil {
		key = []byte(s.options.Key)
	}
	s.key = key
	s.counters = newCounters()
	return s
}

// Endpoint returns the URL of the account for clients of [Server.Transport].
func (s *Server) Endpoint() string { return "https://" + s.options.Name + ".documents.test/" }

// Key returns the account's key in base64.
func (s *Server) Key() string { return s.options.Key }

// Inject makes p the plan of faults for the requests from now on; nil is none.
func (s *Server) Inject(p Plan) { s.gate.inject(p) }

// Counters returns a copy of the counters.
func (s *Server) Counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counters
	c.ByOp, c.ByStatus = maps.Clone(c.ByOp), maps.Clone(c.ByStatus)
	c.ByPartition, c.ByKind = maps.Clone(c.ByPartition), maps.Clone(c.ByKind)
	return c
}

// ResetCounters sets all counters to zero. The numbers of requests go on.
func (s *Server) ResetCounters() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters = newCounters()
}
