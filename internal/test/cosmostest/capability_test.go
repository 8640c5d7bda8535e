package cosmostest_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
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
		"fakecosmos": func(t *testing.T) {
			endpoint, key := fakecosmos(t)
			capabilities(t, endpoint, key, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, nil)
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
	s.items = s.container("items", azcosmos.ContainerProperties{PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Paths: []string{"/pk"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2,
	}})
	return s
}

// container makes a container.
func (s *site) container(id string, p azcosmos.ContainerProperties) *azcosmos.ContainerClient {
	p.ID = id
	_, err := s.database.CreateContainer(s.t.Context(), p, nil)
	require.NoError(s.t, err)
	c, err := s.database.NewContainer(id)
	require.NoError(s.t, err)
	return c
}

// fakecosmos builds and starts the command.
func fakecosmos(t *testing.T) (endpoint, key string) {
	binary := filepath.Join(t.TempDir(), "fakecosmos.exe")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./fakecosmos").CombinedOutput()
	require.NoError(t, err, "%s", out)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "-port", "0")
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		require.Error(t, cmd.Wait(), "it serves until it is ended")
	})
	line, err := bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscanf(line, "listening %s key %s\n", &endpoint, &key)
	require.NoError(t, err, "%q", line)
	return endpoint, key
}
