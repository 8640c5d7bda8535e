package cosmos_test

import (
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
