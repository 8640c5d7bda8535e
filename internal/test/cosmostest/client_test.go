package cosmostest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
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
func open(t testing.TB, o *cosmostest.Options, properties string) (*cosmostest.Server, *azcosmos.ContainerClient) {
	t.Helper()
	srv := cosmostest.New(o)
	require.NoError(t, srv.CreateContainer("d", "c", properties))
	c, err := connect(t, srv.Endpoint(), srv.Key(), srv.Transport()).NewContainer("d", "c")
	require.NoError(t, err)
	return srv, c
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

// given makes parameters of names and values.
func given(values map[string]any) *azcosmos.QueryOptions {
	o := &azcosmos.QueryOptions{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		o.QueryParameters = append(o.QueryParameters, azcosmos.QueryParameter{Name: name, Value: values[name]})
	}
	return o
}

// all returns the rows of a query and the number of its pages.
func all(ctx context.Context, c *azcosmos.ContainerClient, query string, p azcosmos.PartitionKey, o *azcosmos.QueryOptions) (rows []string, pages int, err error) {
	for pager := c.NewQueryItemsPager(query, p, o); pager.More(); pages++ {
		r, err := pager.NextPage(ctx)
		if err != nil {
			return rows, pages, err
		}
		for _, item := range r.Items {
			rows = append(rows, string(item))
		}
		if pages > 1000 {
			return rows, pages, errors.New("pages without end")
		}
	}
	return rows, pages, nil
}

// with adds a header to the requests of a context.
func with(ctx context.Context, name, value string) context.Context {
	return policy.WithHTTPHeader(ctx, http.Header{name: {value}})
}
