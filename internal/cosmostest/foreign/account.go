package foreign

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An Account is a server that runs.
type Account struct {
	Name     string
	Endpoint string // URL
	Key      string // in base64
	Client   *http.Client
}

// Real returns the account that COSMOS_ENDPOINT names, if it does; then
// COSMOS_KEY has to be its key: the tests make databases of their own there,
// which no data role may, and azidentity is no dependency of this module. What
// signs in without a key is examples/cloudsync, a module of its own.
func Real(t testing.TB) (Account, bool) {
	t.Helper()
	endpoint, key := os.Getenv("COSMOS_ENDPOINT"), os.Getenv("COSMOS_KEY")
	if endpoint == "" {
		return Account{}, false
	}
	require.NotEmpty(t, key, "COSMOS_KEY is not set")
	return Account{Name: "real", Endpoint: endpoint, Key: key, Client: newClient(t, nil)}, true
}

// idleLimit is how long a connection may be idle and be used again. Node ends
// those that were idle for 5 s, also while the next request is on its way there.
const idleLimit = 2 * time.Second

// newClient returns a client whose connections end with the test; wrap, if
// not nil, changes its requests.
func newClient(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *http.Client {
	base := &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: idleLimit, Proxy: http.ProxyFromEnvironment}
	t.Cleanup(base.CloseIdleConnections)
	if wrap == nil {
		return &http.Client{Transport: base}
	}
	return &http.Client{Transport: wrap(base)}
}
