package cosmostest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options configure a [Server]. The zero value is a server without faults, on the clock of the process.
type Options struct {
	// AAD judges bearer tokens; nil refuses all.
	AAD func(token string) TokenState

	// Now is the clock of time stamps and of the check of x-ms-date; nil is time.Now.
	Now func() time.Time

	// Sleep waits for [Fault.Delay] and [Fault.Hold]; nil uses a timer.
	Sleep func(context.Context, time.Duration) error

	// Consistency is the account's default level.
	Consistency Consistency

	// PartitionBytes is how many bytes of documents a logical partition may hold: a write
	// that would make it larger is answered with 403 and 1014; 0 is no limit.
	PartitionBytes int

	// ContentETags lets the etag of a document follow from its content, as the versions of
	// other stores do, where two documents in turn may have the same.
	ContentETags bool

	// Observe gets every request when it is over, one at a time. It may call the Server's
	// methods except Inject.
	Observe func(Record)
}

// A Server is an Azure Cosmos DB account in memory. It is an [http.Handler], and
// [Server.Transport] reaches it without a network. It may be used concurrently, starts no
// goroutines and needs no Close.
type Server struct {
	options Options
	name    string // azcosmos caches containers by endpoint, so each server has its own

	arrival sync.Mutex // held while the plan or an observer runs; it comes before mu
	plan    Plan
	n       int // requests that arrived

	mu        sync.Mutex // guards the fields below
	databases map[string]*database
	made      int // containers, which makes resource ids unique
	echoes    []echo
	counters  Counters
}

// New returns an empty account.
func New(o *Options) *Server {
	s := &Server{databases: map[string]*database{}, name: "account-" + strings.ToLower(rand.Text()[:12]), counters: newCounters()}
	if o != nil {
		s.options = *o
	}
	if s.options.Now == nil {
		s.options.Now = time.Now
	}
	if s.options.Sleep == nil {
		s.options.Sleep = sleep
	}
	return s
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Endpoint returns the URL of the account for clients of [Server.Transport].
func (s *Server) Endpoint() string { return "https://" + s.name + ".documents.test/" }

// Key returns the account's key in base64.
func (s *Server) Key() string { return base64.StdEncoding.EncodeToString(key[:]) }

// A Count adds up requests.
type Count struct {
	Requests int
	Charge   float64 // request units
	Written  int     // documents
	Sent     int64   // bytes of the answers' bodies
}

// Counters count the work of a [Server] since it was made or since [Server.ResetCounters].
type Counters struct {
	Total       Count
	ByOp        map[Op]Count
	ByStatus    map[int]int      // 0 for requests without an answer
	ByPartition map[string]Count // by Request.Partition, of requests on documents
	ByKind      map[string]Count // by the member "type" of the labels of the documents written, or of the documents; Charge and Written alone
}

func newCounters() Counters {
	return Counters{ByOp: map[Op]Count{}, ByStatus: map[int]int{}, ByPartition: map[string]Count{}, ByKind: map[string]Count{}}
}

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

func (c *Counters) add(r Record, changed []written) {
	c.Total = c.Total.plus(r)
	c.ByOp[r.Op] = c.ByOp[r.Op].plus(r)
	c.ByStatus[r.Status]++
	if r.Op.Data() {
		c.ByPartition[r.Partition] = c.ByPartition[r.Partition].plus(r)
	}
	for _, w := range changed {
		kind := c.ByKind[w.kind]
		kind.Written++
		kind.Charge += w.charge
		c.ByKind[w.kind] = kind
	}
}

func (c Count) plus(r Record) Count {
	c.Requests++
	c.Charge += r.Charge
	c.Written += r.Written
	c.Sent += int64(r.Sent)
	return c
}

// An echo is a request that comes once more.
type echo struct {
	due  int // the request after whose arrival
	call *call
}

// find returns a container.
func (s *Server) find(db, container string) (*container, error) {
	if d := s.databases[db]; d != nil && d.containers[container] != nil {
		return d.containers[container], nil
	}
	return nil, fmt.Errorf("find container %q of %q: not there", container, db)
}

// accountAnswer answers with the account's address and consistency.
func (s *Server) accountAnswer(c *call) *answer {
	region := fmt.Sprintf(`[{"name":"Local","databaseAccountEndpoint":%s}]`, quoted(c.base))
	return &answer{status: http.StatusOK, charge: controlCharge, body: fmt.Appendf(nil, `{"_self":"","id":%[1]s,"_rid":%[1]s,"_dbs":"//dbs/",`+
		`"writableLocations":%[2]s,"readableLocations":%[2]s,"enableMultipleWriteLocations":false,`+
		`"userConsistencyPolicy":{"defaultConsistencyLevel":%[3]s}}`, quoted(s.name), region, quoted(s.options.Consistency.String()))}
}

// control creates databases and containers, and reads and deletes containers.
func (s *Server) control(c *call) *answer {
	db := s.databases[c.Database]
	switch {
	case c.kind == databases:
		return s.createDatabase(c.Body)
	case db == nil:
		return fail(http.StatusNotFound, "Owner resource does not exist")
	case c.Method == http.MethodPost:
		return s.createContainer(db, c.Body, c.At)
	}
	box := db.containers[c.Container]
	if box == nil {
		return fail(http.StatusNotFound, "Resource Not Found")
	}
	if c.Method == http.MethodGet {
		return &answer{status: http.StatusOK, charge: controlCharge, body: box.properties.json()}
	}
	delete(db.containers, c.Container)
	return &answer{status: http.StatusNoContent, charge: controlCharge}
}

func (s *Server) createDatabase(body []byte) *answer {
	d, no := named(body)
	if no != nil {
		return no
	}
	id := d.text("id")
	if s.databases[id] != nil {
		return fail(http.StatusConflict, "Resource with specified id or name already exists")
	}
	s.databases[id] = &database{rid: fmt.Sprintf("db%02d", len(s.databases)+s.made), containers: map[string]*container{}}
	return &answer{status: http.StatusCreated, charge: controlCharge, body: d.json()}
}

func (s *Server) createContainer(db *database, body []byte, at time.Time) *answer {
	d, no := parseDefinition(body)
	if no != nil {
		return no
	}
	id := d.properties.text("id")
	if db.containers[id] != nil {
		return fail(http.StatusConflict, "Resource with specified id or name already exists")
	}
	s.made++
	rid := fmt.Sprintf("%sco%04d", db.rid, s.made)
	d.properties = append(d.properties.own(),
		member{"_rid", quoted(rid)}, member{"_self", quoted("dbs/" + db.rid + "/colls/" + rid + "/")},
		member{"_etag", quoted(fmt.Sprintf(`"0000-%08x"`, s.made))}, member{"_ts", number(float64(at.Unix()))},
		member{"_docs", `"docs/"`}, member{"_conflicts", `"conflicts/"`})
	db.containers[id] = &container{rid: rid, definition: d, contentETags: s.options.ContentETags, partitions: map[string]map[string]*version{}}
	return &answer{status: http.StatusCreated, charge: controlCharge, body: d.properties.json()}
}
