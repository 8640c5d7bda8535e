package cosmostest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest/foreign"
)

// A capability is something that the service does, told as a check that is
// nil when the server does it too. Checks of one server run one after the
// other and may use what those before them left.
type capability struct {
	name  string
	check func(context.Context, *site) error
}

// A site is a server under test.
type site struct {
	t         testing.TB
	endpoint  string
	key       string
	transport policy.Transporter
	client    *azcosmos.Client
	database  *azcosmos.DatabaseClient
	items     *azcosmos.ContainerClient // partition key /pk
}

// TestCapabilities runs the same checks on every kind of server. A foreign
// one fails those that its list of quirks names, and no other.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T){
		"transport": func(t *testing.T) {
			srv := cosmostest.New(nil)
			capabilities(t, srv.Endpoint(), srv.Key(), srv.Transport(), nil)
		},
		"listener": func(t *testing.T) {
			srv := cosmostest.New(nil)
			web := httptest.NewServer(srv)
			t.Cleanup(web.Close)
			capabilities(t, web.URL+"/", srv.Key(), web.Client(), nil)
		},
		"vercel": func(t *testing.T) {
			a := foreign.Vercel(t)
			capabilities(t, a.Endpoint, a.Key, a.Client, vercelQuirks)
		},
		"cosmium": func(t *testing.T) {
			a := foreign.Cosmium(t)
			capabilities(t, a.Endpoint, a.Key, a.Client, cosmiumQuirks)
		},
	}
	for name, check := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
	if a, ok := foreign.Real(t); ok {
		t.Run("real", func(t *testing.T) { capabilities(t, a.Endpoint, a.Key, a.Client, nil) })
	}
}

func capabilities(t *testing.T, endpoint, key string, transport policy.Transporter, quirks map[string]string) {
	s := newSite(t, endpoint, key, transport)
	known := map[string]bool{}
	for _, group := range [][]capability{itemCapabilities, etagCapabilities, queryCapabilities, batchCapabilities, limitCapabilities} {
		for _, one := range group {
			require.False(t, known[one.name], "two checks are named %q", one.name)
			known[one.name] = true
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			err := one.check(ctx, s)
			cancel()
			quirk, expected := quirks[one.name]
			switch {
			case err != nil && !expected:
				t.Errorf("%s: %v", one.name, err)
			case err == nil && expected && !strings.HasPrefix(quirk, "at times"):
				t.Errorf("%s: the server does it, although its quirk is: %s", one.name, quirk)
			}
		}
	}
	for name := range quirks {
		require.True(t, known[name], "no check is named %q", name)
	}
}

func newSite(t *testing.T, endpoint, key string, transport policy.Transporter) *site {
	s := &site{t: t, endpoint: endpoint, key: key, transport: transport}
	s.client = connect(t, endpoint, key, transport)
	ctx := t.Context()
	name := fmt.Sprintf("capabilities%d", rand.IntN(1e9))
	_, err := s.client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil)
	require.NoError(t, err)
	s.database, err = s.client.NewDatabase(name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _ = s.database.Delete(context.WithoutCancel(ctx), nil) // an account is tidied as far as it goes; the strict server keeps it
	})
	_, err = s.database.CreateContainer(ctx, properties("items"), nil)
	require.NoError(t, err)
	s.items, err = s.database.NewContainer("items")
	require.NoError(t, err)
	return s
}
