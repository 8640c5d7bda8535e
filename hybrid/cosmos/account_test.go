package cosmos

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestAccountRegions looks what a client asks the account: nothing, unless it
// prefers regions.
func TestAccountRegions(t *testing.T) {
	t.Parallel()
	srv := cosmostest.New(nil)
	reads := func(regions ...string) int64 {
		seen := &accountReads{next: srv.Transport()}
		o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: seen}, PreferredRegions: regions}
		client, err := openAccount(srv.Endpoint(), srv.Key(), nil, o)
		require.NoError(t, err)
		require.NoError(t, Provision(t.Context(), client, "db", "sync"))
		return seen.count.Load()
	}
	require.Zero(t, reads())
	require.Positive(t, reads("West Europe"))
}

// accountReads counts the reads of the account.
type accountReads struct {
	next  policy.Transporter
	count atomic.Int64
}

func (a *accountReads) Do(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && len(r.URL.Path) <= 1 {
		a.count.Add(1)
	}
	return a.next.Do(r)
}
