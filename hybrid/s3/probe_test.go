package s3

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestConditions is services that ignore or lack a condition. They are refused before the
// first write, and nothing of the probe stays. Reads go on.
func TestConditions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes func(req *http.Request) *http.Response
		lacks   string
	}{
		"ignores If-None-Match": {func(req *http.Request) *http.Response {
			req.Header.Del("If-None-Match")
			return nil
		}, "ignores If-None-Match"},
		"ignores If-Match": {func(req *http.Request) *http.Response {
			req.Header.Del("If-Match")
			return nil
		}, "ignores If-Match where there is no object"},
		"ignores If-Match of an object": {func(req *http.Request) *http.Response {
			if strings.HasSuffix(req.URL.Path, "-1") {
				req.Header.Del("If-Match")
			}
			return nil
		}, "the bucket ignores If-Match,"},
		"has no If-None-Match": {func(req *http.Request) *http.Response {
			if req.Header.Get("If-None-Match") != "" {
				return answer(req, 501, "NotImplemented")
			}
			return nil
		}, "takes no If-None-Match"},
		"has no If-Match": {func(req *http.Request) *http.Response {
			if req.Header.Get("If-Match") != "" {
				return answer(req, 501, "NotImplemented")
			}
			return nil
		}, "If-Match where there is no object"},
		"refuses each If-Match": {func(req *http.Request) *http.Response {
			if req.Header.Get("If-Match") != "" {
				return answer(req, 412, "PreconditionFailed")
			}
			return nil
		}, "takes no If-Match"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := opened(t, gofakes3, over(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPut {
					if a := c.changes(req); a != nil {
						return a, nil
					}
				}
				return http.DefaultClient.Do(req)
			}))
			_, err := r.Commit(t.Context(), part, []remote.Object{object("a", "a")}, nil)
			require.ErrorIs(t, err, remote.ErrBlocked)
			require.NotErrorIs(t, err, remote.ErrUnknown)
			require.ErrorContains(t, err, c.lacks)
			require.ErrorContains(t, err, "Cloudflare R2")
			_, err = r.Get(t.Context(), part, "a", "")
			require.ErrorIs(t, err, remote.ErrNotExist)
			require.Empty(t, keys(t, r))
		})
	}
}

// keys returns the keys below the prefix of a remote.
func keys(t *testing.T, r *Remote) (all []string) {
	t.Helper()
	in := s3.ListObjectsV2Input{Bucket: &r.bucket, Prefix: &r.prefix}
	require.NoError(t, r.do(t.Context(), func(ctx context.Context) error {
		out, err := r.client.ListObjectsV2(ctx, &in)
		if err != nil {
			return err
		}
		for _, o := range out.Contents {
			all = append(all, strings.TrimPrefix(*o.Key, r.prefix))
		}
		return nil
	}))
	return all
}

// TestProvenOnce: the first write of a remote is preceded by the probe, and no later one.
// A probe that found nothing out is made again, and so is one whose note is forgotten.
func TestProvenOnce(t *testing.T) {
	t.Parallel()
	for name := range servers {
		made, fails := 0, func(*http.Request) *http.Response { return nil }
		r := opened(t, name, over(func(req *http.Request) (*http.Response, error) {
			if made++; fails(req) != nil {
				return fails(req), nil
			}
			return http.DefaultClient.Do(req)
		}))
		for _, fails = range []func(req *http.Request) *http.Response{
			func(req *http.Request) *http.Response { return answer(req, 503, "SlowDown") },
			func(req *http.Request) *http.Response { return answer(req, 500, "InternalError") },
			func(req *http.Request) *http.Response {
				if req.Header.Get("If-Match") == "" {
					return nil
				}
				return answer(req, 409, "ConditionalRequestConflict")
			},
		} {
			_, err := r.Commit(t.Context(), part, nil, swap("head", "", ""))
			require.ErrorIs(t, err, remote.ErrUnreachable)
			require.NotErrorIs(t, err, remote.ErrUnknown)
		}
		made, fails = 0, func(*http.Request) *http.Response { return nil }
		for i := range 3 {
			_, err := r.Commit(t.Context(), part, []remote.Object{object("a", "a")}, nil)
			require.NoError(t, err)
			require.Equal(t, 8+i, made, name) // five writes and two removals are the probe
		}
		require.Equal(t, []string{part + "/a"}, keys(t, r))
		note := r.Note()
		for _, given := range []struct {
			note     string
			requests int
		}{{"", 8}, {note, 1}, {"another", 8}, {note, 1}} {
			r.SetNote(given.note)
			made = 0
			_, err := r.Commit(t.Context(), part, []remote.Object{object("a", "a")}, nil)
			require.NoError(t, err)
			require.Equal(t, given.requests, made, name)
			require.Equal(t, note, r.Note())
		}
	}
}

// TestProbeIsCut ends the context of a first write while it waits for the probe. Nothing of
// the write was sent, so its outcome is known.
func TestProbeIsCut(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	r := fake(t, func(req *http.Request) (*http.Response, error) {
		made++
		cancel()
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	r.proven.Store(false)
	_, err := r.Commit(ctx, part, nil, swap("head", "", ""))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, remote.ErrUnknown)
	require.Equal(t, 1, made)
}

// TestProbeIsCutLater ends the context of a first write after a write of the probe. The probe
// removes what it wrote.
func TestProbeIsCutLater(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := opened(t, gofakes3, over(func(req *http.Request) (*http.Response, error) {
		a, err := http.DefaultClient.Do(req)
		if req.Method == http.MethodPut {
			cancel()
		}
		return a, err
	}))
	_, err := r.Commit(ctx, part, nil, swap("head", "", ""))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, keys(t, r))
}

// TestReadOnly is a key that may read alone.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := opened(t, gofakes3, nil)
	_, err := w.Commit(t.Context(), part, []remote.Object{object("a", "a")}, nil)
	require.NoError(t, err)
	refused := 0
	r := opened(t, gofakes3, over(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet {
			refused++
			return answer(req, 403, "AccessDenied"), nil
		}
		return http.DefaultClient.Do(req)
	}))
	_, err = r.Commit(t.Context(), part, []remote.Object{object("b", "b")}, nil)
	require.ErrorIs(t, err, remote.ErrRefused)
	require.ErrorContains(t, err, "may not write")
	require.Equal(t, 1, refused)
	o, err := r.Get(t.Context(), part, "a", "")
	require.NoError(t, err)
	require.Equal(t, "a", string(o.Body))
}
