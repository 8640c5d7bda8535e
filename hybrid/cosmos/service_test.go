package cosmos

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// elsewhere answers every request on documents itself, once it is told with what.
type elsewhere struct {
	next   policy.Transporter
	status int
}

func (e *elsewhere) Do(r *http.Request) (*http.Response, error) {
	if e.status == 0 || !strings.Contains(r.URL.Path, "/docs") {
		return e.next.Do(r)
	}
	return &http.Response{
		Status: http.StatusText(e.status), StatusCode: e.status, Header: http.Header{"Content-Type": {"text/html"}},
		Body: io.NopCloser(strings.NewReader("<!DOCTYPE html><p>Sign in")), Request: r,
	}, nil
}

// TestAnswerFromElsewhere lets somebody else answer, as a network does that wants a
// sign-in. Nobody takes that for what the account says.
func TestAnswerFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 204, 302, 401, 403, 404, 407, 409, 412, 413, 502, 511} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { answerFromElsewhere(t, status, true) })
			synctest.Test(t, func(t *testing.T) { answerFromElsewhere(t, status, false) })
		})
	}
}

// saysElsewhere requires an error to tell what answered, and what to do, without what
// the answer was.
func saysElsewhere(t *testing.T, err error, status int) {
	t.Helper()
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorContains(t, err, fmt.Sprintf("not the account but a web page with status %d", status))
	require.ErrorContains(t, err, "sign in to the network")
	require.NotContains(t, err.Error(), "<")
	require.NotContains(t, err.Error(), "unmarshal")
}

// answerFromElsewhere uses a client that Open makes, or one of the SDK alone.
func answerFromElsewhere(t *testing.T, status int, own bool) {
	srv := cosmostest.New(nil)
	away := &elsewhere{next: srv.Transport()}
	o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: away}}
	client, err := openAccount(srv.Endpoint(), srv.Key(), nil, o)
	require.NoError(t, err)
	if !own {
		key, err := azcosmos.NewKeyCredential(srv.Key())
		require.NoError(t, err)
		client, err = azcosmos.NewClientWithKey(srv.Endpoint(), key, o)
		require.NoError(t, err)
	}
	require.NoError(t, Provision(t.Context(), client, "db", "sync"))
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	fresh := func() *Remote { return New(container) }
	require.NoError(t, fresh().batch(t.Context(), "p", put("a")).Err)
	there, err := fresh().Get(t.Context(), "p", "a", "")
	require.NoError(t, err)
	away.status = status
	version := azcore.ETag(there.Version)
	for name, ops := range map[string][]op{
		"put":     {put("a")},
		"create":  {add("b")},
		"replace": {swap("a", version)},
		"delete":  {discard("a")},
		"batch":   {put("b"), swap("a", version)},
	} {
		a := fresh().batch(t.Context(), "p", ops...)
		require.NotErrorIs(t, a.Err, remote.ErrChanged, name)
		saysElsewhere(t, a.Err, status)
	}
	_, err = fresh().Get(t.Context(), "p", "a", "")
	saysElsewhere(t, err, status)
	n := 0
	for _, err := range fresh().List(t.Context(), "p", remote.Query{}) {
		if n++; own {
			saysElsewhere(t, err, status)
		}
		require.ErrorIs(t, err, remote.ErrUnreachable)
	}
	require.Equal(t, 1, n)
	away.status = 0
	after, err := fresh().Get(t.Context(), "p", "a", "")
	require.NoError(t, err)
	require.Equal(t, there.Version, after.Version)
}

// TestExamineElsewhere lets another server say that it has no such page. That is not
// the account without the container.
func TestExamineElsewhere(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	client, err := openAccount(srv.URL, "AA==", nil, nil)
	require.NoError(t, err)
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	require.NoError(t, examine(t.Context(), container))

	account := cosmostest.New(nil)
	client, err = openAccount(account.Endpoint(), account.Key(), nil, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: account.Transport()}})
	require.NoError(t, err)
	container, err = client.NewContainer("db", "sync")
	require.NoError(t, err)
	require.ErrorIs(t, examine(t.Context(), container), remote.ErrBlocked)
}
