package cosmostest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options configure a [Server]. The zero value is a server without faults
// and limits of throughput, on the clock of the process.
type Options struct {
	// Name is the account's, a part of Endpoint; "" makes a random one.
	// azcosmos caches containers by endpoint for the whole process, so
	// two servers of one process must not share a name.
	Name string

	// Key is the account's key in base64; "" is 64 zero bytes.
	Key string

	// AcceptAAD judges bearer tokens; nil refuses all.
	AcceptAAD func(token string) bool

	// Now is the clock of expiry, time stamps and of the check of
	// x-ms-date; nil is time.Now.
	Now func() time.Time

	// Sleep waits for [Fault.Delay] and [Fault.Hold]; nil uses a timer.
	Sleep func(context.Context, time.Duration) error

	// Throughput is how many request units a container serves in a second
	// before it answers 429; 0 is no limit.
	Throughput float64

	// Ranges is how many physical partitions a container has; 0 is 1.
	Ranges int

	// FeedPage is how many documents a page of the change feed has at most,
	// whatever the client asks for; 0 is no limit. The service may send fewer
	// than it was asked for.
	FeedPage int

	// Observe is told of every request when it is over, one at a time. It
	// may call the Server's methods except Inject.
	Observe func(Record)
}

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

// serve answers a call, in the way of the service and without faults of the
// connection. The caller holds mu.
func (s *Server) serve(c *call) *answer {
	a, f := s.dispatch(c)
	if f != nil {
		a = f.answer()
	}
	return a
}

func (s *Server) dispatch(c *call) (*answer, *failure) {
	if f := s.authorize(c); f != nil {
		return nil, f
	}
	if len(c.Body) > maxItem && c.Op != OpCreate && c.Op != OpUpsert && c.Op != OpReplace {
		return nil, fail(http.StatusRequestEntityTooLarge, "Request size is too large")
	}
	switch c.Op {
	case OpAccount:
		return s.accountAnswer(c), nil
	case OpControl:
		return s.control(c)
	}
	db := s.databases[c.Database]
	if db == nil || db.containers[c.Container] == nil {
		return nil, fail(http.StatusNotFound, "Owner resource does not exist")
	}
	box := db.containers[c.Container]
	if c.Op == OpRanges {
		return rangesAnswer(c, box), nil
	}
	if f := s.throttle(c, box); f != nil {
		return nil, f
	}
	a, f := s.data(c, box)
	if f != nil {
		a = f.answer()
	}
	box.budget.spent += a.charge
	return a, nil
}

func (s *Server) data(c *call, box *container) (*answer, *failure) {
	switch c.Op {
	case OpQuery:
		return s.queryRequest(c, box)
	case OpBatch:
		return s.batch(c, box)
	case OpChangeFeed:
		return s.changeFeed(c, box)
	}
	if c.header.Get(headerPartitionKey) == "" {
		return nil, fail(http.StatusBadRequest, "The partition key supplied in %s header has fewer components than defined in the collection", headerPartitionKey)
	}
	return s.item(c, box)
}
