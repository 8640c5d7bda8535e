package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

const part = "p-1"

// over is a transport that a function makes.
type over func(req *http.Request) (*http.Response, error)

func (f over) Do(req *http.Request) (*http.Response, error) { return f(req) }

// answer returns an answer with a code of the service.
func answer(req *http.Request, status int, code string, headers ...string) *http.Response {
	a := &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/xml"}},
		Body:   io.NopCloser(strings.NewReader("<Error><Code>" + code + "</Code><Message>of the test</Message></Error>")),
	}
	for i := 0; i < len(headers); i += 2 {
		a.Header.Set(headers[i], headers[i+1])
	}
	return a
}

// fake opens a remote of a service that the transport is. Its bucket is known to keep to
// conditions.
func fake(t *testing.T, do over) *Remote {
	t.Helper()
	s := &server{address: "http://service.invalid"}
	r, err := Open(t.Context(), s.place("fake"), s.config(do))
	require.NoError(t, err)
	r.proven.Store(true)
	return r
}

func object(name, text string) remote.Object {
	return remote.Object{Name: name, Label: []byte(`{}`), Body: []byte(text)}
}

func swap(name, text string, is remote.Version) *remote.Swap {
	return &remote.Swap{Object: object(name, text), If: is}
}

// TestAnswers is what errors of the service are for a read, a write, and a swap.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status            int
		code              string
		headers           []string
		read, write, swap error
	}{
		"not changed":        {304, "", nil, remote.ErrUnchanged, remote.ErrUnchanged, remote.ErrChanged},
		"no object":          {404, "NoSuchKey", nil, remote.ErrNotExist, remote.ErrNotExist, remote.ErrChanged},
		"no bucket":          {404, "NoSuchBucket", nil, remote.ErrBlocked, remote.ErrBlocked, remote.ErrBlocked},
		"another server":     {404, "", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"condition":          {412, "PreconditionFailed", nil, remote.ErrChanged, remote.ErrChanged, remote.ErrChanged},
		"conflict":           {409, "ConditionalRequestConflict", nil, remote.ErrChanged, remote.ErrChanged, remote.ErrChanged},
		"operation aborted":  {409, "OperationAborted", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnreachable},
		"other conflict":     {409, "Other", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"large":              {400, "EntityTooLarge", nil, remote.ErrTooLarge, remote.ErrTooLarge, remote.ErrTooLarge},
		"large for a proxy":  {413, "", nil, remote.ErrTooLarge, remote.ErrTooLarge, remote.ErrTooLarge},
		"slow down":          {503, "SlowDown", []string{"Retry-After", "7"}, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnreachable},
		"too many":           {429, "TooManyRequests", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnreachable},
		"no quorum":          {503, "SlowDownWrite", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"client closed":      {499, "", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"no service":         {503, "ServiceUnavailable", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"internal":           {500, "InternalError", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"timeout":            {400, "RequestTimeout", nil, remote.ErrUnreachable, remote.ErrUnreachable, remote.ErrUnknown},
		"denied":             {403, "AccessDenied", nil, remote.ErrBlocked, remote.ErrRefused, remote.ErrRefused},
		"unknown key":        {403, "InvalidAccessKeyId", nil, remote.ErrBlocked, remote.ErrBlocked, remote.ErrBlocked},
		"signature":          {403, "SignatureDoesNotMatch", nil, remote.ErrBlocked, remote.ErrBlocked, remote.ErrBlocked},
		"token has ended":    {400, "ExpiredToken", nil, remote.ErrUnauthorized, remote.ErrUnauthorized, remote.ErrUnauthorized},
		"clock":              {403, "RequestTimeTooSkewed", []string{"Date", "Mon, 02 Jan 2006 15:04:05 GMT"}, remote.ErrClock, remote.ErrClock, remote.ErrClock},
		"region":             {301, "PermanentRedirect", []string{"X-Amz-Bucket-Region", "eu-west-1"}, remote.ErrBlocked, remote.ErrBlocked, remote.ErrBlocked},
		"disk of the server": {507, "XMinioStorageFull", nil, remote.ErrBlocked, remote.ErrBlocked, remote.ErrBlocked},
		"not implemented":    {501, "NotImplemented", nil, remote.ErrRefused, remote.ErrRefused, remote.ErrRefused},
		"bad request":        {400, "InvalidArgument", nil, remote.ErrRefused, remote.ErrRefused, remote.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				made := 0
				r := fake(t, func(req *http.Request) (*http.Response, error) {
					made++
					return answer(req, c.status, c.code, c.headers...), nil
				})
				_, read := r.Get(t.Context(), part, "a", "v")
				_, write := r.Commit(t.Context(), part, []remote.Object{object("a", "")}, nil)
				_, swapped := r.Commit(t.Context(), part, nil, swap("a", "", "v"))
				for want, err := range map[error]error{c.read: read, c.write: write, c.swap: swapped} {
					require.ErrorIs(t, err, want)
					require.NotContains(t, err.Error(), "of the test")
				}
				require.Equal(t, c.swap == remote.ErrUnknown, errors.Is(swapped, remote.ErrUnknown))
				tries, headers := 3, slices.Contains(c.headers, "Retry-After")
				switch again := !headers && (c.status == 429 || c.code == "OperationAborted" || c.status >= 500 && c.read == remote.ErrUnreachable); {
				case c.read == remote.ErrClock:
					tries = 6 // once more, signed by the time of the answer
				case again && c.swap == remote.ErrUnknown:
					tries = 2*maxAttempts + 1
				case again:
					tries = 3 * maxAttempts
				}
				require.Equal(t, tries, made)
				trouble := (*remote.Unreachable)(nil)
				switch errors.As(swapped, &trouble); c.code {
				case "SlowDown":
					require.Equal(t, [2]any{remote.Throttled, 7 * time.Second}, [2]any{trouble.Kind, trouble.After})
				case "PermanentRedirect":
					require.ErrorContains(t, read, "region=eu-west-1")
				}
			})
		})
	}
}

// TestNoAnswer is a service that takes no connection, and one that is a page.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]over{
		"page": func(req *http.Request) (*http.Response, error) {
			return answer(req, 200, "", "Content-Type", "text/html"), nil
		},
		"text": func(req *http.Request) (*http.Response, error) {
			a := answer(req, 200, "", "Content-Type", "text/plain")
			a.Body = io.NopCloser(strings.NewReader("hello"))
			return a, nil
		},
		"none": func(req *http.Request) (*http.Response, error) { return http.DefaultClient.Do(req) },
	} {
		r := fake(t, do)
		_, get := r.Get(t.Context(), part, "a", "")
		_, write := r.Commit(t.Context(), part, []remote.Object{object("a", "")}, nil)
		list := error(nil)
		for _, list = range r.List(t.Context(), part, remote.Query{}) {
		}
		for _, err := range []error{get, write, list} {
			trouble := (*remote.Unreachable)(nil)
			require.ErrorAs(t, err, &trouble, name)
			require.Equal(t, remote.Away, trouble.Kind, "%s: %v", name, err)
		}
		_, err := r.Commit(t.Context(), part, nil, swap("a", "", ""))
		require.ErrorIs(t, err, remote.ErrUnknown, name)
	}
}

// TestLostAnswer loses the answers of requests that were done. None is made again.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	made, lose := 0, false
	r := opened(t, gofakes3, over(func(req *http.Request) (*http.Response, error) {
		a, err := http.DefaultClient.Do(req)
		if !lose || err != nil {
			return a, err
		}
		if made++; req.Method == http.MethodGet { // it breaks off
			a.Body = io.NopCloser(io.MultiReader(io.LimitReader(a.Body, 10), broken{}))
			return a, nil
		}
		return nil, errors.Join(io.ErrUnexpectedEOF, a.Body.Close())
	}))
	v, err := r.Commit(t.Context(), part, nil, swap("head", "one", ""))
	require.NoError(t, err)
	lose = true
	_, err = r.Commit(t.Context(), part, nil, swap("head", "two", v))
	require.ErrorIs(t, err, remote.ErrUnknown)
	_, err = r.Commit(t.Context(), part, []remote.Object{object("a", "a")}, nil)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	_, err = r.Get(t.Context(), part, "a", "")
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, 3, made)
	lose = false
	o, err := r.Get(t.Context(), part, "head", v)
	require.NoError(t, err)
	require.Equal(t, "two", string(o.Body))
}

// broken is the rest of an answer that does not come.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestClock is a service whose clock is an hour ahead. Requests are signed by its time, and
// times are its own.
func TestClock(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Now().Add(time.Hour) }
	refused := 0
	r := opened(t, gofakes3, over(func(req *http.Request) (*http.Response, error) {
		date := now().UTC().Format(http.TimeFormat)
		signed, err := time.Parse("20060102T150405Z", req.Header.Get("X-Amz-Date"))
		if err != nil {
			return nil, err
		}
		if now().Sub(signed).Abs() > 15*time.Minute {
			refused++
			return answer(req, 403, "RequestTimeTooSkewed", "Date", date), nil
		}
		req.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z")) // the server behind it has the right time
		a, err := http.DefaultClient.Do(req)
		if err == nil {
			a.Header.Set("Date", date)
		}
		return a, err
	}))
	v, err := r.Commit(t.Context(), part, nil, swap("a", "text", ""))
	require.NoError(t, err)
	_, err = r.Commit(t.Context(), part, nil, swap("a", "text", v))
	require.NoError(t, err)
	require.Equal(t, 1, refused)
	info, err := r.Info(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, now(), info.Time, time.Minute)
}

// TestNoKeys is a machine without credentials, and one whose credentials cannot be read for
// lack of a network.
func TestNoKeys(t *testing.T) {
	t.Parallel()
	made := 0
	s := &server{address: "http://service.invalid"}
	c := s.config(over(func(req *http.Request) (*http.Response, error) { made++; return nil, io.EOF }))
	c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("the sign-in has ended")
	})
	r, err := Open(t.Context(), s.place(""), c)
	require.NoError(t, err)
	_, err = r.Get(t.Context(), part, "a", "")
	require.ErrorIs(t, err, remote.ErrUnauthorized)
	require.ErrorContains(t, err, "sign in")
	require.Zero(t, made)
}

// TestKeysAreAway is credentials that cannot be read now, and a machine that has none: the last
// place where the client looks is a service of AWS's own machines.
func TestKeysAreAway(t *testing.T) {
	t.Parallel()
	nothing := &net.OpError{Op: "dial", Err: io.EOF}
	status := func(code int) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: code}}, Err: io.EOF}
	}
	for name, c := range map[string]struct{ is, want error }{
		"sign-in service is away":       {&smithy.OperationError{ServiceID: "SSO OIDC", Err: nothing}, remote.ErrUnreachable},
		"sign-in service fails":         {&smithy.OperationError{ServiceID: "STS", Err: status(503)}, remote.ErrUnreachable},
		"sign-in service is too busy":   {&smithy.OperationError{ServiceID: "SSO", Err: status(429)}, remote.ErrUnreachable},
		"sign-in service is silent":     {&smithy.OperationError{ServiceID: "STS", Err: &net.OpError{Op: "read", Err: io.EOF}}, remote.ErrUnreachable},
		"sign-in service refuses":       {&smithy.OperationError{ServiceID: "STS", Err: status(403)}, remote.ErrUnauthorized},
		"not a machine of AWS":          {&smithy.OperationError{ServiceID: "ec2imds", Err: nothing}, remote.ErrUnauthorized},
		"a machine of AWS with no role": {&smithy.OperationError{ServiceID: "ec2imds", Err: status(404)}, remote.ErrUnauthorized},
	} {
		s := &server{address: "http://service.invalid"}
		config := s.config(over(func(*http.Request) (*http.Response, error) { return nil, io.EOF }))
		config.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, c.is })
		r, err := Open(t.Context(), s.place(""), config)
		require.NoError(t, err)
		r.proven.Store(true)
		_, err = r.Get(t.Context(), part, "a", "")
		require.ErrorIs(t, err, c.want, name)
		_, err = r.Commit(t.Context(), part, nil, swap("a", "", ""))
		require.ErrorIs(t, err, c.want, name)
	}
}

// TestRedirected is a swap whose client follows a redirect, as to a page to sign in at, and
// brings the answer of that page. The swap was not made.
func TestRedirected(t *testing.T) {
	t.Parallel()
	network := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet {
			http.Redirect(w, req, "/page", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("ETag", `"page"`)
	}))
	defer network.Close()
	r := fake(t, func(req *http.Request) (*http.Response, error) {
		req.URL.Host = strings.TrimPrefix(network.URL, "http://")
		return network.Client().Do(req)
	})
	_, err := r.Commit(t.Context(), part, nil, swap("head", "one", "v"))
	require.ErrorIs(t, err, remote.ErrUnknown)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorIs(t, r.Delete(t.Context(), part, []string{"a"}), remote.ErrUnreachable)
}

// TestListWithoutRest is a service that says that a list goes on, and not where.
func TestListWithoutRest(t *testing.T) {
	t.Parallel()
	r := fake(t, func(req *http.Request) (*http.Response, error) {
		a := answer(req, 200, "")
		a.Body = io.NopCloser(strings.NewReader(`<ListBucketResult><Name>sessions</Name><IsTruncated>true</IsTruncated></ListBucketResult>`))
		return a, nil
	})
	var last error
	for _, last = range r.List(t.Context(), part, remote.Query{}) {
	}
	require.ErrorIs(t, last, remote.ErrUnreachable)
}

// TestIgnoredRange is a service that answers with the whole of large objects, whatever range
// it is asked for, perhaps without a length. Their labels are read, and little more where the
// length is known.
func TestIgnoredRange(t *testing.T) {
	t.Parallel()
	for _, label := range []int{100, 3 * firstRead} {
		for _, length := range []bool{true, false} {
			o := remote.Object{Name: "a", Label: fmt.Appendf(nil, `{"x":%q}`, strings.Repeat("x", label)), Body: make([]byte, 64<<20)}
			content, err := encode(&o)
			require.NoError(t, err)
			all := &measured{}
			r := fake(t, func(req *http.Request) (*http.Response, error) {
				a := answer(req, 200, "", "ETag", `"v"`, "Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
				if all.Reader = bytes.NewReader(content); length {
					a.Header.Set("Content-Length", fmt.Sprint(len(content)))
				}
				a.Body = io.NopCloser(all)
				return a, nil
			})
			got, err := r.label(t.Context(), part, "a")
			require.NoError(t, err)
			require.Equal(t, string(o.Label), string(got.Label))
			if length {
				require.Less(t, all.n, 10*firstRead)
			}
			_, s, err := r.read(t.Context(), "a", &s3.GetObjectInput{Bucket: &r.bucket, Key: r.key(part, "a")}, 0, firstRead)
			require.NoError(t, err)
			require.Equal(t, []int{firstRead, len(content)}, []int{len(s.bytes), int(s.size)})
		}
	}
}

// measured counts the bytes that are read.
type measured struct {
	io.Reader
	n int
}

func (c *measured) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestNoLength is an object whose answer has no length, as some proxies pass it on.
func TestNoLength(t *testing.T) {
	t.Parallel()
	want := object("head", "text")
	content, err := encode(&want)
	require.NoError(t, err)
	r := fake(t, func(req *http.Request) (*http.Response, error) {
		a := answer(req, 200, "", "ETag", `"v"`, "Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		a.Body = io.NopCloser(bytes.NewReader(content))
		return a, nil
	})
	o, err := r.Get(t.Context(), part, "head", "")
	require.NoError(t, err)
	require.Equal(t, []string{"{}", "text"}, []string{string(o.Label), string(o.Body)})
}
