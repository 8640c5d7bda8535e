package cosmos

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func partition(pk string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(pk) }

// Get implements [Conn].
func (c *conn) Get(ctx context.Context, pk, id string, known ETag) (*Document, error) {
	var doc *Document
	a := c.do(ctx, true, expectedRead, func(ctx context.Context) (azcosmos.Response, string, error) {
		if known != "" {
			ctx = policy.WithHTTPHeader(ctx, http.Header{"If-None-Match": []string{string(known)}})
		}
		r, err := c.client.Container.ReadItem(ctx, partition(pk), id, &azcosmos.ItemOptions{SessionToken: c.sessionToken()})
		doc = &Document{Body: r.Value, ETag: r.ETag}
		if err == nil && r.RawResponse != nil && r.RawResponse.StatusCode == http.StatusNotModified {
			doc.Same, doc.ETag = true, known
		}
		return r.Response, text(r.SessionToken), err
	})
	switch a.Class {
	case OK:
		doc.findETag()
		return doc, nil
	case Missing:
		return nil, nil
	}
	return nil, a.Err
}

// findETag reads the ETag from the body where the answer had none, as with some
// servers.
func (d *Document) findETag() {
	var body struct {
		ETag ETag `json:"_etag"`
	}
	if d.ETag == "" && json.Unmarshal(d.Body, &body) == nil {
		d.ETag = body.ETag
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// pageSize is how many rows a page has at most, unless its query says more.
const pageSize = 100

// Query implements [Conn].
func (c *conn) Query(ctx context.Context, q Query) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for next, more := "", true; more; more = next != "" {
			var rows [][]byte
			var err error
			if rows, next, err = c.Page(ctx, q, next); err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// Page implements [Conn].
func (c *conn) Page(ctx context.Context, q Query, next string) (rows [][]byte, more string, err error) {
	size, after := int32(pageSize), (*string)(nil)
	if q.rows > 0 {
		size = q.rows
	}
	if next != "" {
		after = &next
	}
	a := c.do(ctx, true, expectedRead, func(ctx context.Context) (azcosmos.Response, string, error) {
		pager := c.client.Container.NewQueryItemsPager(q.text(), partition(q.PK), &azcosmos.QueryOptions{
			QueryParameters: q.parameters(), PageSizeHint: size, ContinuationToken: after, SessionToken: c.sessionToken(),
		})
		page, err := pager.NextPage(ctx)
		rows, more = page.Items, text(page.ContinuationToken)
		return page.Response, "", err
	})
	if a.Class == Refused && next != "" {
		return nil, "", fmt.Errorf("%w: %w", ErrNoPage, a.Err)
	}
	return rows, more, a.Err
}
