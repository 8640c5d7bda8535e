package cosmostest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// connect returns a client of an account that does not retry.
func connect(t testing.TB, endpoint, key string, transport policy.Transporter) *azcosmos.Client {
	t.Helper()
	cred, err := azcosmos.NewKeyCredential(key)
	require.NoError(t, err)
	client, err := azcosmos.NewClientWithKey(endpoint, cred, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: transport, Retry: policy.RetryOptions{MaxRetries: -1},
	}})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// open returns a server and its container c in the database d.
func open(t testing.TB, o *cosmostest.Options) (*cosmostest.Server, *azcosmos.ContainerClient) {
	t.Helper()
	srv := cosmostest.New(o)
	require.NoError(t, srv.CreateContainer("d", "c", ""))
	c, err := connect(t, srv.Endpoint(), srv.Key(), srv.Transport()).NewContainer("d", "c")
	require.NoError(t, err)
	return srv, c
}

// properties are those of a container as the project makes it.
func properties(id string) azcosmos.ContainerProperties {
	return azcosmos.ContainerProperties{
		ID:                     id,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2},
		IndexingPolicy: &azcosmos.IndexingPolicy{
			Automatic: true, IndexingMode: azcosmos.IndexingModeConsistent,
			IncludedPaths: []azcosmos.IncludedPath{{Path: "/pk/?"}}, ExcludedPaths: []azcosmos.ExcludedPath{{Path: "/*"}},
		},
	}
}

func pk(s string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(s) }

// doc makes a document of the partition p from further names and values.
func doc(p, id string, more ...any) []byte {
	m := map[string]any{"pk": p, "id": id}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	out, err := json.Marshal(m)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// fields decodes a document.
func fields(body []byte) map[string]any {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return map[string]any{"error": err.Error()}
	}
	return m
}

// status returns the HTTP status of an error, 0 for none and -1 for one
// without an answer.
func status(err error) int {
	var answer *azcore.ResponseError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &answer):
		return answer.StatusCode
	}
	return -1
}

// substatus returns the substatus of an error as the header has it.
func substatus(err error) string {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return answer.RawResponse.Header.Get("x-ms-substatus")
	}
	return ""
}

// want compares the status of each error.
func want(code int, errs ...error) error {
	for i, err := range errs {
		if status(err) != code {
			return fmt.Errorf("request %d: want status %d, got %d: %.300v", i, code, status(err), err)
		}
	}
	return nil
}

func check(ok bool, format string, a ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, a...)
}

// A list is a query as the project sends it; see hybrid/cosmos/query.go.
type list struct {
	part, after string
	end         string // "": there is none
	since       int64  // 0: there is none
	rows        int32  // of a page; 0: 1000
	next        *string
}

const (
	listText = "SELECT c.id, c.label, c.type, c.v, c._etag, c._ts FROM c WHERE c.pk = @pk AND c.id > @after"
	byID     = " ORDER BY c.id"
)

func (l list) pager(c *azcosmos.ContainerClient) *runtime.Pager[azcosmos.QueryItemsResponse] {
	text := listText
	o := &azcosmos.QueryOptions{PageSizeHint: cmp.Or(l.rows, 1000), ContinuationToken: l.next, QueryParameters: []azcosmos.QueryParameter{
		{Name: "@pk", Value: l.part}, {Name: "@after", Value: l.after},
	}}
	if l.end != "" {
		text, o.QueryParameters = text+" AND c.id < @end", append(o.QueryParameters, azcosmos.QueryParameter{Name: "@end", Value: l.end})
	}
	if l.since != 0 {
		text, o.QueryParameters = text+" AND c._ts >= @since", append(o.QueryParameters, azcosmos.QueryParameter{Name: "@since", Value: l.since})
	}
	return c.NewQueryItemsPager(text+byID, pk(l.part), o)
}

// ids returns the ids that a list has, and how many of them each page.
func (l list) ids(ctx context.Context, c *azcosmos.ContainerClient) (ids []string, pages []int, err error) {
	for pager := l.pager(c); pager.More(); {
		r, err := pager.NextPage(ctx)
		if err != nil {
			return ids, pages, err
		}
		for _, item := range r.Items {
			ids = append(ids, fmt.Sprint(fields(item)["id"]))
		}
		if pages = append(pages, len(r.Items)); len(pages) > 1000 {
			return ids, pages, errors.New("pages without end")
		}
	}
	return ids, pages, nil
}

// replaced replaces a document in the version that it has.
func replaced(ctx context.Context, c *azcosmos.ContainerClient, p, id string, body []byte) error {
	r, err := c.ReadItem(ctx, pk(p), id, nil)
	if err != nil {
		return err
	}
	_, err = c.ReplaceItem(ctx, pk(p), id, body, &azcosmos.ItemOptions{IfMatchEtag: &r.ETag})
	return err
}

// with adds a header to the requests of a context.
func with(ctx context.Context, name, value string) context.Context {
	return policy.WithHTTPHeader(ctx, http.Header{name: {value}})
}
