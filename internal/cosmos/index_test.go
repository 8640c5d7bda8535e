package cosmos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestIndexCoversEachQuery asks the strict server all queries that a [Query] can stand
// for. Each property that they name in a filter or an order is indexed by the container
// that Provision makes, and without any one of its paths some would not be.
func TestIndexCoversEachQuery(t *testing.T) {
	t.Parallel()
	asked := queriesOf(t, allQueries(t))
	t.Logf("%d queries", len(asked))
	policy := provisioned(t)
	require.Empty(t, uncovered(t, policy, asked))
	for i, path := range policy.IncludedPaths {
		without := policy
		without.IncludedPaths = slices.Delete(slices.Clone(policy.IncludedPaths), i, i+1)
		require.Equal(t, []string{strings.TrimSuffix(path.Path, "/?")}, uncovered(t, without, asked), "the index has no path too many")
	}
}

// TestQueriesAreAmongAll requires that the queries which the package makes are among
// those that [TestIndexCoversEachQuery] tries, as far as their filters and orders go.
func TestQueriesAreAmongAll(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, q := range allQueries(t) {
		all[named(q)] = true
	}
	for _, q := range []Query{
		Segments("p", "t", 0), Histories("p"), Names("p"), Inventory("p"),
		written("p", "x", 0), written("p", "x", 1), catalogue("p", "x", 0), catalogue("p", "x", 1),
	} {
		require.True(t, all[named(q)], q.text())
	}
}

// named returns the part of a query's text that names properties to search by.
func named(q Query) string {
	_, text, _ := strings.Cut(q.text(), " FROM ")
	return text
}

// allQueries returns all queries that differ in which fields are set, in each order.
func allQueries(t *testing.T) (all []Query) {
	t.Helper()
	fields := reflect.TypeFor[Query]()
	var optional []int
	for i := range fields.NumField() {
		if f := fields.Field(i); f.IsExported() && f.Name != "PK" && f.Name != "Order" {
			optional = append(optional, i)
		}
	}
	for _, order := range orders(t) {
		for set := range 1 << len(optional) {
			q := Query{PK: "p", Order: order}
			for bit, i := range optional {
				if set>>bit&1 == 0 {
					continue
				}
				switch f := reflect.ValueOf(&q).Elem().Field(i); f.Kind() {
				case reflect.String:
					f.SetString("x")
				case reflect.Int64:
					f.SetInt(1)
				default:
					require.Fail(t, "a kind of field that this test does not set", fields.Field(i).Name)
				}
			}
			all = append(all, q)
		}
	}
	return all
}

// orders reads the constants of type Order from the source.
func orders(t *testing.T) (all []Order) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "query.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Order" {
			for _, value := range spec.Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				require.NoError(t, err)
				all = append(all, Order(text))
			}
		}
		return true
	})
	require.Subset(t, all, []Order{ByID, ByEnd, Newest, ByWritten})
	return all
}

// queriesOf asks the strict server, and returns what it was asked.
func queriesOf(t *testing.T, queries []Query) (asked []*cosmostest.Query) {
	t.Helper()
	var mu sync.Mutex
	srv := cosmostest.New(&cosmostest.Options{Observe: func(r cosmostest.Record) {
		if r.Op != cosmostest.OpQuery {
			return
		}
		q, err := cosmostest.ParseQuery(r.Body)
		require.NoError(t, err, "%s", r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, &q)
	}})
	conn := connect(t, srv).Conn("")
	for _, q := range queries {
		for _, err := range conn.Query(t.Context(), q) {
			require.NoError(t, err, q.text())
		}
	}
	require.Len(t, asked, len(queries))
	return asked
}

// provisioned returns the policy of a container that Provision made.
func provisioned(t *testing.T) azcosmos.IndexingPolicy {
	t.Helper()
	made, err := connect(t, cosmostest.New(nil)).Container.Read(t.Context(), nil)
	require.NoError(t, err)
	require.NotNil(t, made.ContainerProperties.IndexingPolicy)
	return *made.ContainerProperties.IndexingPolicy
}

// uncovered returns the properties by which queries search or sort, and which the policy
// does not index: the service looks at every document of the partition then, or refuses
// to sort. It indexes id and _ts always.
func uncovered(t *testing.T, policy azcosmos.IndexingPolicy, queries []*cosmostest.Query) (paths []string) {
	t.Helper()
	require.Equal(t, []azcosmos.ExcludedPath{{Path: "/*"}}, policy.ExcludedPaths)
	has := map[string]bool{"/id": true, "/_ts": true}
	for _, p := range policy.IncludedPaths {
		name, exact := strings.CutSuffix(p.Path, "/?")
		require.True(t, exact, "%s: the path of a value", p.Path)
		has[strings.ReplaceAll(name, `"`, "")] = true
	}
	for _, q := range queries {
		for _, name := range append(q.Filters(), q.Order) {
			path := "/" + name
			if !has[path] && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
