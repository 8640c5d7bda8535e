package s3

import (
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
)

// TestEveryThirdRequest has two devices take turns on a service that does not do every third
// request, or does it and says that it did not: each sync of a turn gets through.
func TestEveryThirdRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		does   bool // what it says that it did not
	}{{503, "SlowDown", false}, {503, "ServiceUnavailable", false}, {500, "InternalError", true}} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			s, root, n := &server{address: serve(t, gofakes3)}, t.TempDir(), atomic.Int64{}
			third := over(func(req *http.Request) (*http.Response, error) {
				if n.Add(1)%3 != 0 {
					return http.DefaultClient.Do(req)
				}
				if c.does {
					done, err := http.DefaultClient.Do(req)
					if err != nil {
						return nil, err
					}
					_ = done.Body.Close()
				}
				return answer(req, c.status, c.code), nil
			})
			for turn := range 4 {
				name := []string{"a", "b"}[turn%2]
				r, err := Open(t.Context(), s.place(prefix(t)), s.config(third))
				require.NoError(t, err)
				st, err := hybrid.Open(t.Context(), filepath.Join(root, name), &hybrid.Options{Remote: r, Project: "busy", User: "ada", Device: name, Manual: true})
				require.NoError(t, err)
				if turn > 0 {
					_, err := st.Refresh(t.Context(), "s")
					require.NoError(t, err)
				}
				say(t, st, "s", turn)
				_, err = st.Sync(t.Context(), "s")
				require.NoError(t, err, "turn %d", turn)
				require.NoError(t, st.Close())
			}
		})
	}
}
