package cosmos

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestIndexCoversEachQuery makes all queries that a [remote.Query] can stand for. Each property
// that they name in a filter or an order is indexed by the container that Provision makes, and no
// other one is.
func TestIndexCoversEachQuery(t *testing.T) {
	t.Parallel()
	asked := queriesOf(t)
	require.Len(t, asked, 8)
	policy := provisioned(t)
	require.Empty(t, uncovered(t, policy, asked))
	for i, path := range policy.IncludedPaths {
		without := policy
		without.IncludedPaths = slices.Delete(slices.Clone(policy.IncludedPaths), i, i+1)
		require.Equal(t, []string{strings.TrimSuffix(path.Path, "/?")}, uncovered(t, without, asked), "the index has no path too many")
	}
}

// queriesOf makes the lists with each of the fields of a query set or not, and returns what
// the strict server was asked.
func queriesOf(t *testing.T) (asked []string) {
	t.Helper()
	require.Equal(t, 3, reflect.TypeFor[remote.Query]().NumField(), "this test sets all fields")
	var mu sync.Mutex
	srv := cosmostest.New(&cosmostest.Options{Observe: func(r cosmostest.Record) {
		if r.Op == cosmostest.OpQuery {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, string(r.Body))
		}
	}})
	c := connect(t, srv)
	for _, prefix := range []string{"", "x"} {
		for _, after := range []string{"", "y"} {
			for _, since := range []time.Time{{}, time.Unix(1, 0)} {
				for _, err := range c.List(t.Context(), "p", remote.Query{Prefix: prefix, After: after, Since: since}) {
					require.NoError(t, err)
				}
			}
		}
	}
	return asked
}

// provisioned returns the policy of a container that Provision made.
func provisioned(t *testing.T) azcosmos.IndexingPolicy {
	t.Helper()
	made, err := connect(t, cosmostest.New(nil)).container.Read(t.Context(), nil)
	require.NoError(t, err)
	require.NotNil(t, made.ContainerProperties.IndexingPolicy)
	return *made.ContainerProperties.IndexingPolicy
}

// uncovered returns the properties by which queries search or sort, and which the policy
// does not index: the service looks at every document of the partition then, or refuses
// to sort. It indexes id and _ts always.
func uncovered(t *testing.T, policy azcosmos.IndexingPolicy, queries []string) (paths []string) {
	t.Helper()
	require.Equal(t, []azcosmos.ExcludedPath{{Path: "/*"}}, policy.ExcludedPaths)
	has := map[string]bool{"/id": true, "/_ts": true}
	for _, p := range policy.IncludedPaths {
		name, exact := strings.CutSuffix(p.Path, "/?")
		require.True(t, exact, "%s: the path of a value", p.Path)
		has[strings.ReplaceAll(name, `"`, "")] = true
	}
	for _, q := range queries {
		_, behind, ok := strings.Cut(q, " WHERE ")
		require.True(t, ok, q)
		for _, named := range regexp.MustCompile(`\bc\.(\w+)`).FindAllStringSubmatch(behind, -1) {
			path := "/" + named[1]
			if !has[path] && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
