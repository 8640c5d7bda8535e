package cosmos

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/jitter"
)

// Client makes requests to one container.
type Client struct {
	Container *azcosmos.ContainerClient
	Budget    *Budget
	// Observe is told of each request, when it is not nil. It is called by many
	// goroutines.
	Observe func(context.Context, Request)
}

// Conn begins a piece of work. token is the session token up to which its reads
// must see; "" is none.
func (c *Client) Conn(token string) Conn { return &conn{client: c, token: token} }

// conn is the Conn to an account.
type conn struct {
	client *Client

	mu    sync.Mutex // guards what follows
	token string
	time  time.Time
	usage Usage
}

func (c *conn) Time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *conn) Token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

func (c *conn) Usage() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

// request makes one request, and returns the session token that came with the
// answer.
type request func(context.Context) (answer azcosmos.Response, token string, err error)

// do makes a request that is expected to cost some units, and makes it again as
// long as that may help. Unless it may be repeated, it is not made again when
// nobody knows whether it was done. The second time that the replicas do not know the
// session token, do drops it; see the package's doc.
func (c *conn) do(ctx context.Context, repeatable bool, units float64, r request) (a Answer) {
	stays := false
	for try := range maxAttempts {
		a = c.once(ctx, units, r, &stays)
		if a.Class != Throttled && !(repeatable && a.Class == Unknown) {
			break
		}
		if !a.behind() {
			continue
		}
		if try > 0 {
			c.dropToken()
		} else if err := jitter.Pause(ctx, replicaPause, nil); err != nil {
			return Answer{Class: Abandoned, Failed: -1, Err: err}
		}
	}
	return a
}

// replicaPause is how long a replica that is behind gets to catch up.
const replicaPause = 500 * time.Millisecond

func (c *conn) dropToken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
}

// once makes one request when the budget admits it. Unless it stays, the SDK makes it again
// in another region where the first one refuses it; from then on it stays.
func (c *conn) once(ctx context.Context, expected float64, r request, stays *bool) Answer {
	t := setOut(ctx, c.client.Budget)
	t.stays = stays
	t.count = func(r Request) { c.count(ctx, r) }
	defer t.over()
	if err := c.client.Budget.admit(t.ctx, expected); err != nil {
		return Answer{Class: Abandoned, Failed: -1, Err: err}
	}
	response, token, err := r(t.request())
	err, stale := outcome(err)
	a := classify(err, time.Now())
	a.began, a.stale = t.began, stale
	a.requireService(answered(response.RawResponse, err))
	if !a.silent {
		t.heard()
	}
	if a.Class == Unknown && t.ctx.Err() != nil {
		a.Class, a.Err = Abandoned, t.why()
	}
	units := float64(response.RequestCharge)
	if units == 0 {
		units = unitsOf(answered(nil, err))
	}
	c.client.Budget.learn(a, expected, units)
	if t.wired && t.last == nil {
		return a // nothing was sent, as without a token
	}
	c.observe(ctx, t.began, response.RawResponse, a, units)
	c.note(response.RawResponse, token, units)
	return a
}

// count counts a request that the Conn did not make by itself.
func (c *conn) count(ctx context.Context, r Request) {
	c.mu.Lock()
	c.usage.Requests++
	c.usage.Units += r.Units
	c.mu.Unlock()
	if c.client.Observe != nil {
		c.client.Observe(ctx, r)
	}
}

// note takes down what an answer told.
func (c *conn) note(answer *http.Response, token string, units float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage.Requests++
	c.usage.Units += units
	if token != "" {
		c.token = token
	}
	if answer == nil {
		return
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.time = date.UTC()
	}
}

func (c *conn) observe(ctx context.Context, start time.Time, answer *http.Response, a Answer, units float64) {
	if c.client.Observe == nil {
		return
	}
	status := a.status
	if answer != nil {
		status = answer.StatusCode
	}
	c.client.Observe(ctx, Request{Start: start, Status: status, Units: units, Err: a.Err})
}

// stored counts documents that were stored.
func (c *conn) stored(ops []Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range ops {
		if op.Kind != Remove {
			c.usage.Documents++
			c.usage.Bytes += int64(len(op.Body))
		}
	}
}

// sessionToken is the token of the newest answer as the SDK takes it.
func (c *conn) sessionToken() *string {
	token := c.Token()
	if token == "" {
		return nil
	}
	return &token
}
