package cosmostest_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestDatabases creates databases and containers, and deletes a container.
func TestDatabases(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	srv := cosmostest.New(nil)
	client := connect(t, srv.Endpoint(), srv.Key(), srv.Transport())
	for _, id := range []string{"b", "a"} {
		_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
		require.NoError(t, err)
	}
	_, err := client.NewQueryDatabasesPager("SELECT * FROM c", nil).NextPage(ctx)
	require.Equal(t, 400, status(err), "databases are not listed")
	db, err := client.NewDatabase("a")
	require.NoError(t, err)
	for _, id := range []string{"d", "c"} {
		_, err = db.CreateContainer(ctx, properties(id), nil)
		require.NoError(t, err)
	}
	c, err := db.NewContainer("c")
	require.NoError(t, err)
	_, err = c.Delete(ctx, nil)
	require.NoError(t, err)
	_, err = c.Read(ctx, nil)
	require.Equal(t, 404, status(err))
	_, err = db.Read(ctx, nil)
	require.Equal(t, 405, status(err), "databases are only created")
	_, err = c.Replace(ctx, properties("c"), nil)
	require.Equal(t, 405, status(err), "containers are not replaced")
	db, err = client.NewDatabase("none")
	require.NoError(t, err)
	_, err = db.CreateContainer(ctx, properties("c"), nil)
	require.Equal(t, 404, status(err))
	for _, id := range []string{"a/b", "end ", strings.Repeat("x", 256)} {
		_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
		require.Equal(t, 400, status(err), "%q", id)
	}
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
