package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// link is the few requests of the protocol, for one piece of work. Retries are
// made here alone. Its methods may be called by several goroutines.
type link struct {
	container *azcosmos.ContainerClient
	budget    *Budget
	observer  Observer
	alone     bool // one request at a time

	mu    sync.Mutex // guards what follows
	token string     // of the newest answer: later reads see at least that
	date  time.Time  // of the newest answer, by the server's clock; zero: none said
	used  usage
}

// usage is what a piece of work cost.
type usage struct {
	requests, documents int
	bytes               int64
	charge              float64
}

// serverTime returns the time by the server's clock as of its last answer;
// zero when it has not said.
func (l *link) serverTime() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.date
}

// attempts is how often a request that may be repeated is made before the
// session waits for another time.
const attempts = 4

func unretried(ctx context.Context) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1})
}

// once makes one request when the budget lets it go.
func (l *link) once(ctx context.Context, do func(context.Context) (azcosmos.Response, string, error)) verdict {
	if err := l.budget.admit(ctx); err != nil {
		return verdict{class: abandoned, err: err}
	}
	start := time.Now()
	answer, token, err := do(unretried(ctx))
	v := judge(err, time.Now())
	if v.class == shaky && ctx.Err() != nil {
		v.class, v.err = abandoned, ctx.Err()
	}
	charge := float64(answer.RequestCharge)
	if charge == 0 {
		charge = chargeOf(err)
	}
	l.budget.learn(v, charge)
	l.requested(ctx, start, answer.RawResponse, v, charge)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used.requests++
	l.used.charge += charge
	if token != "" {
		l.token = token
	}
	if answer.RawResponse != nil {
		if date, err := http.ParseTime(answer.RawResponse.Header.Get("Date")); err == nil {
			l.date = date.UTC()
		}
	}
	return v
}

// chargeOf returns what an error answer cost.
func chargeOf(err error) float64 {
	e := (*azcore.ResponseError)(nil)
	if !errors.As(err, &e) || e.RawResponse == nil {
		return 0
	}
	charge := 0.0
	_, _ = fmt.Sscan(e.RawResponse.Header.Get("x-ms-request-charge"), &charge) // without one it is nothing
	return charge
}

// repeat makes a request that may be made several times.
func (l *link) repeat(ctx context.Context, do func(context.Context) (azcosmos.Response, string, error)) (v verdict) {
	for range attempts {
		v = l.once(ctx, do)
		if v.class != throttled && v.class != shaky {
			break
		}
	}
	return v
}

// change makes a request that must not be made twice. Without an answer that
// tells, the class is shaky.
func (l *link) change(ctx context.Context, do func(context.Context) (azcosmos.Response, string, error)) (v verdict) {
	for range attempts {
		if v = l.once(ctx, do); v.class != throttled {
			break
		}
	}
	return v
}

func partition(pk string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(pk) }

func (l *link) session() *string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token == "" {
		return nil
	}
	token := l.token
	return &token
}

// found is a document as it was read.
type found struct {
	body []byte
	etag azcore.ETag
	same bool // it still has the etag that was asked with
}

// read reads one document; nil when there is none. With an etag the body is
// only sent when it changed.
func (l *link) read(ctx context.Context, pk, id string, etag azcore.ETag) (*found, error) {
	var out *found
	v := l.repeat(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		if etag != "" {
			ctx = policy.WithHTTPHeader(ctx, http.Header{"If-None-Match": []string{string(etag)}})
		}
		r, err := l.container.ReadItem(ctx, partition(pk), id, &azcosmos.ItemOptions{SessionToken: l.session()})
		out = &found{body: r.Value, etag: r.ETag}
		if err == nil && r.RawResponse != nil && r.RawResponse.StatusCode == http.StatusNotModified {
			out.same, out.etag = true, etag
		}
		return r.Response, text(r.SessionToken), err
	})
	if v.class == missing {
		return nil, nil
	}
	if v.class == fine && out.etag == "" { // some servers have it in the document alone
		var d struct {
			ETag azcore.ETag `json:"_etag"`
		}
		if err := json.Unmarshal(out.body, &d); err == nil {
			out.etag = d.ETag
		}
	}
	return out, v.err
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// upsert stores a document whose id tells its content, however often.
func (l *link) upsert(ctx context.Context, pk string, body []byte) verdict {
	v := l.repeat(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := l.container.UpsertItem(ctx, partition(pk), body, nil)
		return r.Response, text(r.SessionToken), err
	})
	l.sent(v, body)
	return v
}

func (l *link) sent(v verdict, bodies ...[]byte) {
	if v.class != fine {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used.documents += len(bodies)
	for _, b := range bodies {
		l.used.bytes += int64(len(b))
	}
}

// swap replaces a document if it still has the etag, or creates it when that
// is empty. It returns the new etag.
func (l *link) swap(ctx context.Context, pk, id string, body []byte, etag azcore.ETag) (next azcore.ETag, v verdict) {
	v = l.change(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		var r azcosmos.ItemResponse
		var err error
		if etag == "" {
			r, err = l.container.CreateItem(ctx, partition(pk), body, nil)
		} else {
			r, err = l.container.ReplaceItem(ctx, partition(pk), id, body, &azcosmos.ItemOptions{IfMatchEtag: &etag})
		}
		next = r.ETag
		return r.Response, text(r.SessionToken), err
	})
	l.sent(v, body)
	return next, v
}

// remove deletes a document; that it is gone already is fine.
func (l *link) remove(ctx context.Context, pk, id string) error {
	v := l.repeat(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := l.container.DeleteItem(ctx, partition(pk), id, nil)
		return r.Response, text(r.SessionToken), err
	})
	if v.class == missing {
		return nil
	}
	return v.err
}

// removeSame deletes a document if it still has the etag. That it is gone, or
// was stored anew, is fine.
func (l *link) removeSame(ctx context.Context, pk, id string, etag azcore.ETag) error {
	v := l.repeat(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := l.container.DeleteItem(ctx, partition(pk), id, &azcosmos.ItemOptions{IfMatchEtag: &etag})
		return r.Response, text(r.SessionToken), err
	})
	if v.class == missing || v.class == changed {
		return nil
	}
	return v.err
}

// pageSize is how many rows a page has at most.
const pageSize = 100

// query yields the rows of a query in one partition. The text must hold
// "c.pk = @pk" and an order.
func (l *link) query(ctx context.Context, pk, sql string, params ...azcosmos.QueryParameter) iter.Seq2[[]byte, error] {
	params = append(params, azcosmos.QueryParameter{Name: "@pk", Value: pk})
	return func(yield func([]byte, error) bool) {
		var next *string
		for {
			var page azcosmos.QueryItemsResponse
			v := l.repeat(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
				pager := l.container.NewQueryItemsPager(sql, partition(pk), &azcosmos.QueryOptions{
					QueryParameters: params, PageSizeHint: pageSize, ContinuationToken: next, SessionToken: l.session(),
				})
				var err error
				page, err = pager.NextPage(ctx)
				return page.Response, "", err
			})
			if v.err != nil {
				yield(nil, v.err)
				return
			}
			for _, row := range page.Items {
				if !yield(row, nil) {
					return
				}
			}
			if next = page.ContinuationToken; next == nil || *next == "" {
				return
			}
		}
	}
}
