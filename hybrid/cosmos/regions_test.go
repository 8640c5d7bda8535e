package cosmos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// world is an account with two regions, some of which refuse what is asked there.
type world struct {
	next    policy.Transporter
	writes  []string          // the regions that take writes, as the account says
	several bool              // all of them at once
	fails   map[string]string // by region, or "account": "3" or "1008", "dial", "read", "503", "slow"
	made    []string          // requests, "account" for those for its properties
}

func (w *world) Do(r *http.Request) (*http.Response, error) {
	host, _, _ := strings.Cut(r.URL.Host, ".")
	if isAccount(r) {
		w.made = append(w.made, "account")
		if w.fails["account"] == "dial" {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}
		regions := func(names []string) string {
			var all []string
			for _, name := range names {
				all = append(all, fmt.Sprintf(`{"name":%q,"databaseAccountEndpoint":"http://%s.test/"}`, name, name))
			}
			return "[" + strings.Join(all, ",") + "]"
		}
		return w.answer(r, 200, "", fmt.Sprintf(`{"readableLocations":%s,"writableLocations":%s,"enableMultipleWriteLocations":%t}`,
			regions([]string{"west", "east"}), regions(w.writes), w.several)), nil
	}
	w.made = append(w.made, host)
	switch sub := w.fails[host]; sub {
	case "":
		return w.next.Do(r)
	case "dial", "read":
		return nil, &net.OpError{Op: sub, Net: "tcp", Err: syscall.ECONNREFUSED}
	case "slow":
		answer, err := w.next.Do(r)
		answer.Body = &slow{answer.Body}
		return answer, err
	case "503":
		return w.answer(r, 503, "", "{}"), nil
	default:
		return w.answer(r, 403, sub, "{}"), nil
	}
}

func (*world) answer(r *http.Request, status int, sub, body string) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}, "X-Ms-Substatus": {sub}},
		Body: io.NopCloser(bytes.NewReader([]byte(body))), Request: r,
	}
}

// slow is a body of which a part comes every ten seconds.
type slow struct{ io.ReadCloser }

func (s *slow) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Second)
	return s.ReadCloser.Read(p[:min(len(p), 20)])
}

// TestOtherRegion lets the region refuse that requests go to: the call goes on in the other
// one, and tells of each request.
func TestOtherRegion(t *testing.T) {
	t.Parallel()
	get := func(ctx context.Context, r remote.Remote) error {
		_, err := r.Get(ctx, "p", "a", "")
		if errors.Is(err, remote.ErrNotExist) {
			return nil
		}
		return err
	}
	put := func(ctx context.Context, r remote.Remote) error {
		_, err := r.Commit(ctx, "p", objects("a"), nil)
		return err
	}
	swap := func(ctx context.Context, r remote.Remote) error {
		_, err := r.Commit(ctx, "p", nil, &remote.Swap{Object: objects("b")[0]})
		return err
	}
	for _, tt := range []struct {
		name    string
		call    func(context.Context, remote.Remote) error
		several bool
		fails   map[string]string
		made    string // requests of the call
		fine    bool
		next    string // requests of a second one
	}{
		{"read, 403 1008", get, false, map[string]string{"west": "1008"}, "west account east", true, "east"},
		{"read, 403 3", get, false, map[string]string{"west": "3"}, "west account east", true, "east"},
		{"read, no connection", get, false, map[string]string{"west": "dial"}, "west account east", true, "east"},
		{"read, no connection, no account", get, false, map[string]string{"west": "dial", "account": "dial"}, "west account east", true, "east"},
		{"read, then slow", get, false, map[string]string{"west": "1008", "east": "slow"}, "west account east", true, "east"},
		{"write, the account fails over", put, false, map[string]string{"west": "3"}, "west account east", true, "east"},
		{"swap, the account fails over", swap, false, map[string]string{"west": "3"}, "west account east", true, ""},
		{"write in several regions", put, true, map[string]string{"west": "1008"}, "west account east", true, "east"},
		{"write, no connection", put, true, map[string]string{"west": "dial"}, "west account east", true, "east"},
		{"read, both refuse", get, false, map[string]string{"west": "1008", "east": "1008"}, "west account east east east east", false, ""},
		{"write, both refuse", put, true, map[string]string{"west": "3", "east": "3"}, "west account east east east east", false, ""},
		{"swap, both refuse", swap, true, map[string]string{"west": "3", "east": "3"}, "west account east", false, ""},
		{"read, a lost connection", get, false, map[string]string{"west": "read"}, "west west west west", false, ""},
		{"read, 503", get, false, map[string]string{"west": "503"}, "west west west west", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := cosmostest.New(nil)
				w := &world{next: srv.Transport(), writes: []string{"west", "east"}, several: tt.several}
				client := openIn(t, srv, w, "west", "east")
				r := client.bounded()
				require.NoError(t, get(t.Context(), r)) // the account has answered before
				w.fails = tt.fails
				if !tt.several && len(w.fails) == 1 {
					w.writes = []string{"east"}
				}
				for n, want := range []string{tt.made, tt.next} {
					if n > 0 && want == "" {
						break
					}
					w.made = nil
					ctx, seen := counted(t.Context())
					err := tt.call(ctx, r)
					synctest.Wait()
					require.Equal(t, want, strings.Join(w.made, " "))
					require.EqualValues(t, len(w.made), seen.Load())
					if tt.fine {
						require.NoError(t, err)
						continue
					}
					require.ErrorIs(t, err, remote.ErrUnreachable)
				}
			})
		})
	}
}

// TestOneRegion lets an account refuse whose client prefers no region: only the same place is
// asked again.
func TestOneRegion(t *testing.T) {
	t.Parallel()
	for _, fails := range []string{"3", "1008"} {
		synctest.Test(t, func(t *testing.T) {
			srv := cosmostest.New(nil)
			w := &world{next: srv.Transport()}
			client := openIn(t, srv, w)
			w.fails, w.made = map[string]string{"account": fails}, nil
			_, err := client.bounded().Commit(t.Context(), "p", objects("a"), nil)
			require.ErrorIs(t, err, remote.ErrUnreachable)
			require.ErrorContains(t, err, "status 403")
			require.Equal(t, "account account account account", strings.Join(w.made, " "))
		})
	}
}

// TestOtherRegionEnds ends a call that is about to go to the other region.
func TestOtherRegionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := cosmostest.New(nil)
		w := &world{next: srv.Transport(), writes: []string{"west", "east"}}
		client := openIn(t, srv, w, "west", "east")
		w.fails, w.made = map[string]string{"west": "1008"}, nil
		ctx, told := counted(t.Context())
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		_, err := client.Get(ctx, "p", "a", "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		require.Equal(t, "account west account", strings.Join(w.made, " "))
		require.EqualValues(t, 3, told.Load())
	})
}

// openIn returns what makes requests to a container of the server, over a world.
func openIn(t *testing.T, srv *cosmostest.Server, w *world, regions ...string) *Remote {
	t.Helper()
	require.NoError(t, srv.CreateContainer("db", "sync", ""))
	o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: w}, PreferredRegions: regions}
	client, err := openAccount("http://account.test/", srv.Key(), nil, o)
	require.NoError(t, err)
	container, err := client.NewContainer("db", "sync")
	require.NoError(t, err)
	return New(container)
}
