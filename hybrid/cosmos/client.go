package cosmos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Remote is a container.
type Remote struct {
	container *azcosmos.ContainerClient
	identity  string

	mu     sync.Mutex        // guards the fields below
	tokens map[string]string // of the newest answers, by part
	time   time.Time
	hopped time.Time // when the SDK went to another region last
}

// New returns the remote for a container of a client which the program has made. The
// service has the partition key /pk for it; see [Provision]. The remote is the same as that of
// [Connect] with the endpoint of the client.
func New(container *azcosmos.ContainerClient) *Remote {
	return &Remote{container: container, identity: identityOf(container)}
}

// identityOf returns the identity of a container, as [Config.Identity] does. The SDK tells the
// endpoint of a client, and not that of a container. If another version of it keeps it elsewhere,
// the identity is of this process alone: two accounts never have one.
func identityOf(container *azcosmos.ContainerClient) string {
	database := field(reflect.ValueOf(container), "database")
	endpoint, name := field(field(database, "client"), "endpoint"), field(database, "id")
	if endpoint.Kind() != reflect.String || name.Kind() != reflect.String {
		return fmt.Sprintf("cosmos %s %d", container.ID(), time.Now().UnixNano())
	}
	return Config{Endpoint: endpoint.String(), Database: name.String(), Container: container.ID()}.Identity()
}

// field returns a field of a struct, or of one that v points to; the zero Value where there is none.
func field(v reflect.Value, name string) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// Info implements [remote.Remote]. It makes no request.
func (c *Remote) Info(context.Context) (remote.Info, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return remote.Info{Identity: c.identity, Time: c.time, Batch: remote.Batch{Objects: maxOps, Bytes: maxBytes}, Units: true}, nil
}

// request makes one request, and returns the session token that came with the
// answer.
type request func(context.Context) (answer azcosmos.Response, token string, err error)

// read makes a request that reads. When the replicas do not know the session token for
// the second time, read drops it; see the package's documentation.
func (c *Remote) read(ctx context.Context, part string, r request) (a reply) {
	for try := range 3 {
		if a = c.do(ctx, part, r); !a.behind() {
			break
		}
		if try > 0 {
			c.dropToken(part)
		} else if err := jitter.Pause(ctx, replicaPause, nil); err != nil {
			return reply{Failed: -1, Err: err}
		}
	}
	return a
}

// replicaPause is how long a replica that is behind gets to catch up.
const replicaPause = 500 * time.Millisecond

func (c *Remote) dropToken(part string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, part)
}

// hopPause is the time after a move to another region in which the SDK does not move
// again.
const hopPause = 10 * time.Second

// do makes one request. The SDK makes it again in another region where the first one refuses it.
func (c *Remote) do(ctx context.Context, part string, r request) reply {
	t, request := setOut(ctx, func(r remote.Request) { remote.Observe(ctx, r) })
	defer t.over()
	c.mu.Lock()
	hopped := time.Since(c.hopped) < hopPause
	c.mu.Unlock()
	t.stays = hopped
	response, token, err := r(request)
	err, stale := outcome(err)
	a := classify(err, time.Now())
	a.requireService(answered(response.RawResponse, err))
	switch {
	case errors.Is(err, remote.ErrTooLarge):
		a.Err = err
	case !a.silent:
		t.heard()
	case t.ctx.Err() != nil:
		a.Err = context.Cause(t.ctx)
	case stale:
		a.Err = &remote.Unreachable{Err: err, Kind: remote.Stale}
	}
	units := float64(response.RequestCharge)
	if units == 0 {
		units = unitsOf(answered(nil, err))
	}
	if t.wired && t.last == nil {
		return a // nothing was sent, as without a token
	}
	status := a.status
	if response.RawResponse != nil {
		status = response.RawResponse.StatusCode
	}
	remote.Observe(ctx, remote.Request{Start: t.began, Status: status, Units: units, Err: a.Err})
	c.note(part, response.RawResponse, token, t.stays && !hopped)
	return a
}

// maxTokens is the number of parts whose session tokens are kept.
const maxTokens = 10_000

// note records the session token and the time of an answer.
func (c *Remote) note(part string, answer *http.Response, token string, hopped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hopped {
		c.hopped = time.Now()
	}
	if token != "" {
		if c.tokens == nil || len(c.tokens) >= maxTokens {
			c.tokens = map[string]string{}
		}
		c.tokens[part] = newest(c.tokens[part], token)
	}
	if answer == nil {
		return
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		c.time = date.UTC()
	}
}

// newest returns the later of two session tokens, now where the order is unknown: an
// answer to one goroutine may be older than an earlier answer to another. They have the
// form 0:-1#10#1=5 or 0:10: a range, a version of the account's regions, and a number
// that grows.
func newest(was, now string) string {
	of, before := numberIn(was)
	same, after := numberIn(now)
	if of == same && after < before {
		return was
	}
	return now
}

// numberIn returns the number that grows in a session token, and the text before it.
func numberIn(token string) (of string, n int64) {
	digits := strings.IndexByte(token, ':') + 1
	if version := strings.IndexByte(token, '#') + 1; version > 0 {
		digits = version
	}
	number, _, _ := strings.Cut(token[digits:], "#")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return token, 0
	}
	return token[:digits], n
}

// sessionToken is the token of the newest answer of a part in the form of the SDK.
func (c *Remote) sessionToken(part string) *string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token, ok := c.tokens[part]; ok {
		return &token
	}
	return nil
}

// The limits of one batch. The service takes 100 operations and 2 MB.
const (
	maxOps   = 100
	maxBytes = 1800 << 10
)

// op is a change of one document.
type op struct {
	kind kind
	id   string
	body []byte      // nil for remove
	etag azcore.ETag // that the document must have, for replace
}

// kind is the kind of an operation.
type kind uint8

const (
	upsert   kind = iota // store, over any document
	create               // store where there is none
	replace              // store in the place of a version
	discards             // remove
)

// ops returns the operations of a commit: documents that the swap leads to are stored
// before it, and documents that it no longer leads to are removed after it.
func ops(part string, objects []remote.Object, swap *remote.Swap) (all []op, err error) {
	for i := range objects {
		o := &objects[i]
		body, err := encode(part, o)
		if err != nil {
			return nil, err
		}
		all = append(all, op{kind: upsert, id: o.Name, body: body})
	}
	if swap == nil {
		return all, nil
	}
	body, err := encode(part, &swap.Object)
	if err != nil {
		return nil, err
	}
	change := op{kind: create, id: swap.Name, body: body}
	if swap.If != "" {
		change.kind, change.etag = replace, azcore.ETag(swap.If)
	}
	return append(append(all, change), removes(swap.Remove)...), nil
}

func removes(names []string) (all []op) {
	for _, name := range names {
		all = append(all, op{kind: discards, id: name})
	}
	return all
}
