package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
)

// memory is a service in the process, with as much of S3 as this package uses.
type memory struct {
	mu   sync.Mutex // guards all and n
	all  map[string]*kept
	n    int
	fail func(n int, req *http.Request) int // the status of the n-th request; 0: it is served
	mute func(header http.Header)           // takes what an answer lacks
}

type kept struct {
	content []byte
	etag    string
	at      time.Time
}

func (m *memory) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	content := []byte(nil)
	if req.Body != nil {
		content, _ = io.ReadAll(req.Body) // it is whole
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	if m.fail != nil {
		if status := m.fail(m.n, req); status != 0 {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
			return
		}
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	o := m.all[key]
	w.Header().Set("Content-Type", "application/octet-stream")
	switch {
	case req.URL.Query().Has("list-type"):
		m.list(w, req.URL.Query())
	case req.Method == http.MethodPut && (o != nil && req.Header.Get("If-None-Match") == "*" || req.Header.Get("If-Match") != "" && (o == nil || o.etag != req.Header.Get("If-Match"))):
		w.WriteHeader(http.StatusPreconditionFailed)
	case req.Method == http.MethodPut:
		o = &kept{content, fmt.Sprintf(`"%d"`, m.n), time.Now()}
		m.all[key] = o
		w.Header().Set("ETag", o.etag)
		if m.mute != nil {
			m.mute(w.Header())
		}
	case req.Method == http.MethodDelete:
		delete(m.all, key)
		w.WriteHeader(http.StatusNoContent)
	case o == nil:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
	default:
		w.Header().Set("ETag", o.etag)
		http.ServeContent(w, req, "", o.at, bytes.NewReader(o.content))
	}
}

func (m *memory) list(w io.Writer, q url.Values) {
	type entry struct{ Key, ETag, LastModified string }
	out := struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		Name        string
		IsTruncated bool
		Contents    []entry
	}{Name: "sessions"}
	for _, key := range slices.Sorted(maps.Keys(m.all)) {
		if strings.HasPrefix(key, q.Get("prefix")) && key > q.Get("start-after") {
			out.Contents = append(out.Contents, entry{key, m.all[key].etag, m.all[key].at.UTC().Format(time.RFC3339)})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

// at opens a remote of the service.
func (m *memory) at(t *testing.T, over *remotetest.Line) *Remote {
	t.Helper()
	m.all = map[string]*kept{}
	r := fake(t, func(req *http.Request) (*http.Response, error) {
		return over.Do(req, func(req *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			m.ServeHTTP(w, req)
			answer := w.Result()
			answer.Request = req
			return answer, nil
		})
	})
	r.proven.Store(false)
	return r
}

func TestLine(t *testing.T) {
	t.Parallel()
	remotetest.RunLine(t, func(t *testing.T, over *remotetest.Line) remote.Remote { return (&memory{}).at(t, over) })
}

// TestBusyService has a service refuse each third request, in all ways in which it may be too
// busy: what it did not do is asked for again, as by the AWS SDK, and all of a commit gets through.
func TestBusyService(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 500, 502, 503, 504} {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{fail: func(n int, req *http.Request) int {
				if conditional := req.Method == http.MethodPut && req.Header.Get("If-Match")+req.Header.Get("If-None-Match") != ""; n%3 > 0 || conditional && status != 429 && status != 503 {
					return 0
				}
				return status
			}}
			r := m.at(t, &remotetest.Line{})
			v := remote.Version("")
			for i := range 20 {
				name := fmt.Sprint("a-", i)
				next, err := r.Commit(t.Context(), part, []remote.Object{object(name, "a")}, swap("head", fmt.Sprint(i), v))
				require.NoError(t, err, status)
				_, err = r.Get(t.Context(), part, name, "")
				require.NoError(t, err, status)
				v = next
			}
		})
	}
}

// TestAlwaysBusy counts how often a request is made that the service never does. What may have
// been done, and what the service wants to be asked later, is left to the caller.
func TestAlwaysBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, slept := 0, time.Duration(0)
		code, headers := "SlowDown", []string(nil)
		r := fake(t, func(req *http.Request) (*http.Response, error) {
			made++
			time.Sleep(slept)
			return answer(req, 503, code, headers...), nil
		})
		calls := map[string]func() error{
			"get":  func() error { _, err := r.Get(t.Context(), part, "a", ""); return err },
			"put":  func() error { _, err := r.Commit(t.Context(), part, []remote.Object{object("a", "")}, nil); return err },
			"swap": func() error { _, err := r.Commit(t.Context(), part, nil, swap("a", "", "v")); return err },
		}
		for name, call := range calls {
			made, code, headers = 0, "SlowDown", nil
			require.ErrorIs(t, call(), remote.ErrUnreachable)
			require.Equal(t, maxAttempts, made, name)
			made, headers = 0, []string{"Retry-After", "7"}
			require.ErrorIs(t, call(), remote.ErrUnreachable)
			require.Equal(t, 1, made, name)
			made, code, headers = 0, "ServiceUnavailable", nil
			require.ErrorIs(t, call(), remote.ErrUnreachable)
			require.Equal(t, map[bool]int{true: 1, false: maxAttempts}[name == "swap"], made, name)
			made, slept = 0, 70*time.Minute // as a machine that sleeps
			require.ErrorIs(t, call(), remote.ErrUnreachable)
			require.Equal(t, 1, made, name)
			slept = 0
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1)
		defer cancel()
		made, code = 0, "SlowDown"
		_, err := r.Get(ctx, part, "a", "")
		require.Error(t, err)
		require.Equal(t, 1, made)
	})
}

// TestNoETags is a service that sends no ETags.
func TestNoETags(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := (&memory{mute: func(h http.Header) { h.Del("ETag") }}).at(t, &remotetest.Line{})
		_, err := r.Commit(t.Context(), part, []remote.Object{object("a", "a")}, nil)
		require.ErrorIs(t, err, remote.ErrUnreachable)
		require.ErrorContains(t, err, "ETag")
	})
}

// TestPlanted has others store objects that are larger than they may be.
func TestPlanted(t *testing.T) {
	t.Parallel()
	remotetest.RunPlanted(t, func(t *testing.T) (remote.Remote, remotetest.Plant) {
		m := &memory{}
		r := m.at(t, &remotetest.Line{})
		return r, func(t *testing.T, part string, o remote.Object) {
			content, err := encode(&o)
			require.NoError(t, err)
			m.all[*r.key(part, o.Name)] = &kept{content, `"planted"`, time.Now()}
		}
	})
}

// endless is a body of zeros.
type endless struct{ read *int64 }

func (e endless) Read(p []byte) (int, error) {
	clear(p)
	*e.read += int64(len(p))
	return len(p), nil
}

// TestEndless is a service whose objects have 10 GB, and whose lists and errors do not end. Little
// of them is read, and less is kept.
func TestEndless(t *testing.T) {
	t.Parallel()
	const size = 10 << 30
	for name, tt := range map[string]struct {
		length int64
		start  string
		status int
		most   int64
	}{
		"with a length":    {size, "", 200, 1 << 20},
		"without a length": {-1, "", 200, maxContent + 1<<20},
		"an honest head":   {size, fmt.Sprintf(`{"op":"x","label":2,"body":%d}`+"\n{}", int64(size)-100), 200, 1 << 20},
		"an error":         {-1, "<Error><Code>", 403, maxContent + 1<<20},
	} {
		t.Run(name, func(t *testing.T) {
			read := int64(0)
			r := fake(t, func(req *http.Request) (*http.Response, error) {
				a := answer(req, tt.status, "", "ETag", `"v"`, "Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
				a.Body = io.NopCloser(io.MultiReader(strings.NewReader(tt.start), endless{&read}))
				if tt.length > 0 {
					a.ContentLength = tt.length
					a.Header.Set("Content-Length", fmt.Sprint(tt.length))
				}
				return a, nil
			})
			before := allocated()
			_, err := r.Get(t.Context(), part, "head", "")
			require.Error(t, err)
			if tt.status == 200 {
				require.ErrorIs(t, err, remote.ErrTooLarge)
			}
			require.LessOrEqual(t, read, tt.most)
			require.Less(t, allocated()-before, uint64(2<<30), "a part of 10 GB")
		})
	}
	read := int64(0)
	r := fake(t, func(req *http.Request) (*http.Response, error) {
		a := answer(req, 200, "")
		a.Body = io.NopCloser(io.MultiReader(strings.NewReader(`<ListBucketResult><Name>sessions</Name><!--`), endless{&read}))
		return a, nil
	})
	for _, err := range r.List(t.Context(), part, remote.Query{}) {
		require.ErrorIs(t, err, remote.ErrTooLarge)
	}
	require.LessOrEqual(t, read, int64(maxContent+1<<20))
}

func allocated() uint64 {
	m := runtime.MemStats{}
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
