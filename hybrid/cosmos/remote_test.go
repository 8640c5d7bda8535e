package cosmos_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestRemote runs what each remote must pass over the strict server.
func TestRemote(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(t *testing.T) remote.Remote { return client(t) })
}

// TestBounded runs it over the client within a budget.
func TestBounded(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(t *testing.T) remote.Remote { return throttle.New(client(t), throttle.NewBudget(0, nil), nil) })
}

// transport is a client of HTTP.
type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(req *http.Request) (*http.Response, error) { return f(req) }

// TestLine runs what each remote must do on a slow or silent line.
func TestLine(t *testing.T) {
	t.Parallel()
	remotetest.RunLine(t, func(t *testing.T, over *remotetest.Line) remote.Remote {
		srv := cosmostest.New(nil)
		require.NoError(t, srv.CreateContainer(cosmos.DefaultDatabase, cosmos.DefaultContainer, ""))
		o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: transport(func(req *http.Request) (*http.Response, error) {
			return over.Do(req, srv.Transport().Do)
		})}}
		r, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: srv.Endpoint(), Key: srv.Key()}, nil, o)
		require.NoError(t, err)
		return r
	})
}

// TestEndless is answers that do not end, of reads and of lists: little of them is read.
func TestEndless(t *testing.T) {
	t.Parallel()
	read := int64(0)
	o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Status: "200 OK", Request: req, Header: http.Header{"X-Ms-Request-Charge": {"1"}, "Content-Type": {"application/json"}},
			Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"id":"`), endless{&read})),
		}, nil
	})}}
	srv := cosmostest.New(nil)
	r, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: srv.Endpoint(), Key: srv.Key()}, nil, o)
	require.NoError(t, err)
	_, err = r.Get(t.Context(), "p", "head", "")
	require.ErrorIs(t, err, remote.ErrTooLarge)
	for _, err := range r.List(t.Context(), "p", remote.Query{}) {
		require.ErrorIs(t, err, remote.ErrTooLarge)
	}
	require.LessOrEqual(t, read, int64(5*remote.MaxObject))
}

// endless is a body without an end.
type endless struct{ read *int64 }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	*e.read += int64(len(p))
	return len(p), nil
}

func client(t *testing.T) *cosmos.Remote {
	t.Helper()
	srv := cosmostest.New(nil)
	cred, err := azcosmos.NewKeyCredential(srv.Key())
	require.NoError(t, err)
	client, err := azcosmos.NewClientWithKey(srv.Endpoint(), cred, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
	require.NoError(t, err)
	require.NoError(t, cosmos.Provision(t.Context(), client, "db", "sync"))
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	return cosmos.New(container)
}
