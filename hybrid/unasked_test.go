package hybrid

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestUnasked looks whether anybody is asked before the container is used.
func TestUnasked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	container, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: server.URL, Key: "aGVsbG8="}, nil, nil)
	require.NoError(t, err)
	info, err := container.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "cosmos "+server.URL+" "+cosmos.DefaultDatabase+"/"+cosmos.DefaultContainer, info.Identity)
	st, err := Open(t.Context(), t.TempDir(), &Options{Remote: container, Project: "p", Manual: true})
	require.NoError(t, err)
	m, err := sessionstore.Text("user", "hello", time.Unix(0, 0))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", m))
	states, err := st.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, Pending, states[0].State)
	require.NoError(t, st.Close())
	require.Zero(t, asked.Load())

	_, err = cosmos.Connect(t.Context(), cosmos.Config{Endpoint: server.URL}, nil, nil)
	require.ErrorContains(t, err, "neither key nor credential")
	_, err = cosmos.Connect(t.Context(), cosmos.Config{Endpoint: server.URL, Key: "?"}, nil, nil)
	require.ErrorContains(t, err, "not base64")
}
