package cosmos

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"
)

func TestConfigFromURL(t *testing.T) {
	t.Setenv("COSMOS_KEY", "a2V5")
	for place, want := range map[string]Config{
		"cosmos://name/db/c": {"https://name.documents.azure.com/", "db", "c", "a2V5"},
		"cosmos://name":      {"https://name.documents.azure.com/", DefaultDatabase, DefaultContainer, "a2V5"},
		"cosmos://name/db/":  {"https://name.documents.azure.com/", "db", DefaultContainer, "a2V5"},
		"cosmos://here/db/c?endpoint=http://127.0.0.1:8081/": {"http://127.0.0.1:8081/", "db", "c", "a2V5"},
	} {
		c, err := ConfigFromURL(place)
		require.NoError(t, err, place)
		require.Equal(t, want, c)
		r, err := Connect(t.Context(), c, nil, nil)
		require.NoError(t, err)
		info, err := r.Info(t.Context())
		require.NoError(t, err)
		c.Key = ""
		require.Equal(t, info.Identity, c.Identity())
	}
	for _, place := range []string{
		"", "cosmos:", "https://name/db/c", "cosmos://u:c2VjcmV0@name/db/c", "cosmos://c2VjcmV0@name/db/c", "cosmos://name/db/c?key=c2VjcmV0", "cosmos://name/db/c/d",
		"cosmos://name/db/c?endpoint=http://u:c2VjcmV0@h/", "cosmos://name:1/db/c", "AccountEndpoint=https://name;AccountKey=c2VjcmV0",
		"cosmos://AccountEndpoint=https://name.documents.azure.com:443/;AccountKey=c2VjcmV0;", "cosmos://name/db/c?AccountKey=c2VjcmV0;",
		"cosmos://name/db/c?endpoint=https://h/;AccountKey=c2VjcmV0", "cosmos://name/db/c?endpoint=https://h/%3BAccountKey=c2VjcmV0", "cosmos://name/db/c%3BAccountKey=c2VjcmV0", "cosmos://name/db/c?endpoint=https://h/%23c2VjcmV0",
	} {
		_, err := ConfigFromURL(place)
		require.ErrorContains(t, err, "COSMOS_KEY", place)
		require.NotContains(t, err.Error(), "c2VjcmV0")
	}
}

// TestIdentityOfAContainer: the containers of two accounts and of two databases have two
// identities, and the one of Connect and of New are one.
func TestIdentityOfAContainer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []Config{
		{Endpoint: "https://one.documents.azure.com/", Database: "db", Container: "sync"},
		{Endpoint: "https://two.documents.azure.com/", Database: "db", Container: "sync"},
		{Endpoint: "https://one.documents.azure.com/", Database: "other", Container: "sync"},
		{Endpoint: "https://one.documents.azure.com/", Database: "db", Container: "other"},
	} {
		cred, err := azcosmos.NewKeyCredential("a2V5")
		require.NoError(t, err)
		client, err := azcosmos.NewClientWithKey(c.Endpoint, cred, nil)
		require.NoError(t, err)
		container, err := client.NewContainer(c.Database, c.Container)
		require.NoError(t, err)
		info, err := New(container).Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.Identity(), info.Identity)
		require.False(t, seen[info.Identity])
		seen[info.Identity] = true
	}
}
