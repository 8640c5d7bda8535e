package cosmostest_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
)

var byPK = azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2}

// TestDatabases goes through the life of databases and containers.
func TestDatabases(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv := cosmostest.New(nil)
	client := connect(t, srv.Endpoint(), srv.Key(), srv.Transport())
	for _, id := range []string{"b", "a"} {
		_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
		require.NoError(t, err)
	}
	page, err := client.NewQueryDatabasesPager("SELECT * FROM c WHERE c.id != @x", &azcosmos.QueryDatabasesOptions{
		QueryParameters: []azcosmos.QueryParameter{{Name: "@x", Value: "z"}},
	}).NextPage(ctx)
	require.NoError(t, err)
	require.Len(t, page.Databases, 2)
	require.Equal(t, "a", page.Databases[0].ID)
	db, err := client.NewDatabase("a")
	require.NoError(t, err)
	for _, id := range []string{"d", "c"} {
		_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{ID: id, PartitionKeyDefinition: byPK}, nil)
		require.NoError(t, err)
	}
	containers, err := db.NewQueryContainersPager("SELECT * FROM c", nil).NextPage(ctx)
	require.NoError(t, err)
	require.Len(t, containers.Containers, 2)
	c, err := db.NewContainer("c")
	require.NoError(t, err)
	_, err = c.Delete(ctx, nil)
	require.NoError(t, err)
	_, err = c.Read(ctx, nil)
	require.Equal(t, 404, status(err))
	_, err = db.Read(ctx, nil)
	require.NoError(t, err)
	_, err = db.Delete(ctx, nil)
	require.NoError(t, err)
	_, err = db.Read(ctx, nil)
	require.Equal(t, 404, status(err))
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "c", PartitionKeyDefinition: byPK}, nil)
	require.Equal(t, 404, status(err))
	for _, id := range []string{"a/b", "end ", strings.Repeat("x", 256)} {
		_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
		require.Equal(t, 400, status(err), "%q", id)
	}
}

func TestReplaceContainer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, c := open(t, nil, "")
	r, err := c.Read(ctx, nil)
	require.NoError(t, err)
	p := *r.ContainerProperties
	p.PartitionKeyDefinition.Paths = []string{"/other"}
	_, err = c.Replace(ctx, p, nil)
	require.Equal(t, 400, status(err), "the partition key stays")
	p = *r.ContainerProperties
	p.IndexingPolicy = &azcosmos.IndexingPolicy{
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/seq/?"}}, ExcludedPaths: []azcosmos.ExcludedPath{{Path: "/*"}},
	}
	_, _, err = all(ctx, c, "SELECT * FROM c ORDER BY c.name", pk("a"), nil)
	require.NoError(t, err)
	_, err = c.Replace(ctx, p, nil)
	require.NoError(t, err)
	_, _, err = all(ctx, c, "SELECT * FROM c ORDER BY c.name", pk("a"), nil)
	require.Equal(t, 400, status(err), "it is not indexed any more")
	_, _, err = all(ctx, c, "SELECT * FROM c ORDER BY c._ts", pk("a"), nil)
	require.NoError(t, err)
}

func TestOffers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv := cosmostest.New(nil)
	client := connect(t, srv.Endpoint(), srv.Key(), srv.Transport())
	manual, auto := azcosmos.NewManualThroughputProperties(600), azcosmos.NewAutoscaleThroughputProperties(4000)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "d"}, &azcosmos.CreateDatabaseOptions{ThroughputProperties: &manual})
	require.NoError(t, err)
	db, err := client.NewDatabase("d")
	require.NoError(t, err)
	shared, err := db.ReadThroughput(ctx, nil)
	require.NoError(t, err)
	units, _ := shared.ThroughputProperties.ManualThroughput()
	require.EqualValues(t, 600, units)
	for id, own := range map[string]*azcosmos.ThroughputProperties{"shared": nil, "own": &auto} {
		_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{ID: id, PartitionKeyDefinition: byPK}, &azcosmos.CreateContainerOptions{ThroughputProperties: own})
		require.NoError(t, err)
		c, err := db.NewContainer(id)
		require.NoError(t, err)
		r, err := c.ReadThroughput(ctx, nil)
		if own == nil {
			require.Equal(t, 404, status(err), "it shares that of the database")
			continue
		}
		require.NoError(t, err)
		most, _ := r.ThroughputProperties.AutoscaleMaxThroughput()
		require.EqualValues(t, 4000, most)
		_, err = c.ReplaceThroughput(ctx, manual, nil)
		require.NoError(t, err)
		r, err = c.ReadThroughput(ctx, nil)
		require.NoError(t, err)
		units, _ = r.ThroughputProperties.ManualThroughput()
		require.EqualValues(t, 600, units)
	}
	low := azcosmos.NewManualThroughputProperties(450)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "e"}, &azcosmos.CreateDatabaseOptions{ThroughputProperties: &low})
	require.Equal(t, 400, status(err))
}

// TestHTTP2 breaks a connection that cannot be taken over.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	srv := cosmostest.New(nil)
	srv.Inject(cosmostest.At(1, cosmostest.Drop()))
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, httptest.NewRequest("GET", "https://127.0.0.1/", nil))
	require.Equal(t, 502, w.Code)
	require.Empty(t, w.Body)
}

func TestOrderBySeveral(t *testing.T) {
	t.Parallel()
	srv, c := open(t, nil, `{"partitionKey":{"paths":["/pk"],"version":2},"indexingPolicy":{
		"compositeIndexes":[[{"path":"/k","order":"ascending"},{"path":"/n","order":"descending"}]]}}`)
	for i := range 6 {
		require.NoError(t, srv.Put("d", "c", string(doc("a", fmt.Sprint(i), "k", i%2, "n", i))))
	}
	tests := map[string]string{
		"c.k ASC, c.n DESC":  `["4" "2" "0" "5" "3" "1"]`,
		"c.k DESC, c.n ASC":  `["1" "3" "5" "0" "2" "4"]`,
		"c.k ASC, c.n ASC":   "",
		"c.n DESC, c.k ASC":  "",
		"c.k, c.n DESC, c.m": "",
	}
	for order, want := range tests {
		o := &azcosmos.QueryOptions{PageSizeHint: 4}
		got, _, err := all(t.Context(), c, "SELECT VALUE c.id FROM c ORDER BY "+order, pk("a"), o)
		if want == "" {
			require.Equal(t, 400, status(err), order)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, fmt.Sprint(got), order)
	}
}
