package cosmos

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Get implements [remote.Remote].
func (c *Remote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	var o remote.Object
	same := false
	a := c.read(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		if known != "" {
			ctx = policy.WithHTTPHeader(ctx, http.Header{"If-None-Match": []string{string(known)}})
		}
		r, err := c.container.ReadItem(ctx, partition(part), name, &azcosmos.ItemOptions{SessionToken: c.sessionToken(part)})
		if same = err == nil && r.RawResponse != nil && r.RawResponse.StatusCode == http.StatusNotModified; !same && err == nil {
			o = decode(r.Value, name, r.ETag)
		}
		return r.Response, text(r.SessionToken), err
	})
	if a.missing() && known != "" && c.sessionToken(part) == nil {
		if now, b := c.getNewest(ctx, part, name); !errors.Is(b.Err, remote.ErrRefused) { // as by an emulator
			o, a, same = now, b, now.Version == known
		}
	}
	if a.Err == nil && same {
		return o, remote.ErrUnchanged
	}
	return o, a.Err
}

// getNewest reads an object that was there once, when no session token is known, as after a start
// of the program: a replica that is behind has none of it. A batch is answered by the replica
// that takes the writes.
func (c *Remote) getNewest(ctx context.Context, part, name string) (o remote.Object, a reply) {
	batch := c.container.NewTransactionalBatch(partition(part))
	batch.ReadItem(name, nil)
	a = c.read(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := c.container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err == nil {
			err = &batchError{results(r)}
			if len(r.OperationResults) == 1 {
				o = decode(r.OperationResults[0].ResourceBody, name, r.OperationResults[0].ETag)
			}
		}
		return r.Response, r.SessionToken, err
	})
	return o, a
}

// pageSize is how many rows a page has at most. The service ends a page before, when it has
// 4 MB.
const pageSize = 1000

// List implements [remote.Remote].
func (c *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		for next, more := "", true; more; more = next != "" {
			var rows [][]byte
			var err error
			if rows, next, err = c.page(ctx, part, &q, next); err != nil {
				yield(remote.Object{}, err)
				return
			}
			for _, row := range rows {
				o := decode(row, "", "") // without a name where it is of another tool
				if o.Name != "" && strings.HasPrefix(o.Name, q.Prefix) && !yield(o, nil) {
					return
				}
			}
		}
	}
}

// page returns the page of a list that next names, and the name of the one behind it.
func (c *Remote) page(ctx context.Context, part string, q *remote.Query, next string) (rows [][]byte, more string, err error) {
	after := (*string)(nil)
	if next != "" {
		after = &next
	}
	a := c.read(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		query, parameters := textOf(part, q)
		pager := c.container.NewQueryItemsPager(query, partition(part), &azcosmos.QueryOptions{
			QueryParameters: parameters, PageSizeHint: pageSize, ContinuationToken: after, SessionToken: c.sessionToken(part),
		})
		page, err := pager.NextPage(ctx)
		rows, more = page.Items, text(page.ContinuationToken)
		return page.Response, "", err
	})
	return rows, more, a.Err
}
