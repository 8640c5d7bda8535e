package s3

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestOtherTools puts objects of other tools, and a torn one, beside an object. They have
// versions and neither labels nor bodies.
func TestOtherTools(t *testing.T) {
	t.Parallel()
	for name := range servers {
		r := opened(t, name, nil)
		_, err := r.Commit(t.Context(), part, []remote.Object{object("a", "text")}, nil)
		require.NoError(t, err)
		whole, err := encode(&remote.Object{Label: []byte(`{}`), Body: []byte("text")})
		require.NoError(t, err)
		for key, content := range map[string][]byte{
			"empty": nil, "text": []byte("a letter"), "torn": whole[:len(whole)-1], "longer": append(whole, 'x'), "long": bytes.Repeat([]byte("x"), 3*firstRead),
			"json": []byte("{\"op\":\"x\",\"label\":-1,\"body\":1}\n"), "Name.txt": nil, "below/b": nil,
		} {
			_, err := r.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &r.bucket, Key: r.key(part, key), Body: bytes.NewReader(content)}, func(o *s3.Options) { o.HTTPClient = http.DefaultClient })
			require.NoError(t, err)
		}
		var names []string
		for o, err := range r.List(t.Context(), part, remote.Query{}) {
			require.NoError(t, err)
			names = append(names, o.Name)
			require.NotEmpty(t, o.Version)
			require.Equal(t, o.Name == "a", len(o.Label) > 0)
			got, err := r.Get(t.Context(), part, o.Name, "")
			require.NoError(t, err)
			require.Equal(t, o.Version, got.Version)
			require.Equal(t, o.Name == "a", len(got.Body) > 0)
		}
		require.Equal(t, "a empty json long longer text torn", strings.Join(names, " "))
	}
}

// TestLabelIsReplaced replaces an object with a long label between the two reads of a list.
func TestLabelIsReplaced(t *testing.T) {
	t.Parallel()
	long := func(letter string) []byte { return []byte(`"` + strings.Repeat(letter, 2*firstRead) + `"`) }
	o := remote.Object{Name: "head", Label: long("a")}
	w := opened(t, versitygw, nil)
	v, err := w.Commit(t.Context(), part, nil, &remote.Swap{Object: o})
	require.NoError(t, err)
	replaced := false
	r := opened(t, versitygw, over(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("If-Match") != "" && !replaced {
			replaced, o.Label = true, long("b")
			if v, err = w.Commit(t.Context(), part, nil, &remote.Swap{Object: o, If: v}); err != nil {
				return nil, err
			}
		}
		return http.DefaultClient.Do(req)
	}))
	n := 0
	for got, err := range r.List(t.Context(), part, remote.Query{}) {
		require.NoError(t, err)
		require.Equal(t, string(long("b")), string(got.Label))
		require.Equal(t, v, got.Version)
		n++
	}
	require.Equal(t, 1, n)
	require.True(t, replaced)
}

// TestRemovedInAList removes an object after its name was listed, and before it was read.
func TestRemovedInAList(t *testing.T) {
	t.Parallel()
	w := opened(t, gofakes3, nil)
	_, err := w.Commit(t.Context(), part, []remote.Object{object("a", "a"), object("b", "b")}, nil)
	require.NoError(t, err)
	r := opened(t, gofakes3, over(func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "/a") {
			if err := w.Delete(t.Context(), part, []string{"a"}); err != nil {
				return nil, err
			}
		}
		return http.DefaultClient.Do(req)
	}))
	var names []string
	for o, err := range r.List(t.Context(), part, remote.Query{}) {
		require.NoError(t, err)
		names = append(names, o.Name)
	}
	require.Equal(t, []string{"b"}, names)
}
