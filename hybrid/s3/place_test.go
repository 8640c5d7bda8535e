package s3

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlaces refuses places that are none. No error has a secret of a place.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "no address",
		"bucket":                                 "no address",
		"https://bucket/p":                       "no address",
		"s3:///p":                                "no address",
		"s3://bucket:9000/p":                     "no address",
		"s3://bucket/p#part":                     "no address",
		"s3://buck et":                           "no address",
		"s3://secret:secret@bucket/p":            "holds no keys",
		"s3://secret@bucket/p":                   "holds no keys",
		"s3://bucket?secret_access_key=secret":   "holds no keys",
		"s3://bucket?X-Amz-Security-Token=s":     "holds no keys",
		"s3://bucket?endpoint=http://s:secret@h": "holds no keys",
		"s3://bucket?secret=secret":              "holds no keys",
		"s3://bucket?secret_key=secret":          "holds no keys",
		"s3://bucket?Secret%5FKey=secret":        "holds no keys",
		"s3://secret%3Asecret@bucket/p":          "holds no keys",
		"S3://secret:secret@bucket/p":            "holds no keys",
		"s3://bucket/p&secret_key=secret":        "holds no keys",
		"s3://bucket?profile=a;secret_key=s":     "holds no keys",
		"s3://bucket?part=1":                     "none of endpoint",
		"s3://bucket?region=a&region=b":          "no value of region, or two",
		"s3://bucket?region=":                    "no value of region, or two",
		"s3://bucket?style=secret":               "neither path nor host",
		"s3://bucket?endpoint=ftp://h":           "endpoint is no address",
		"s3://bucket?endpoint=https://":          "endpoint is no address",
		"s3://bucket?endpoint=http://h?a=secret": "endpoint is no address",
		"s3://bucket?%zz":                        "no query",
		"s3://bucket/a//b":                       "empty step",
		"s3://bucket/../b":                       "empty step",
		"s3://name--use1-az4--x-s3/p":            "directory bucket",
		"s3://bucket/p":                          "no region",
	} {
		_, err := Open(t.Context(), text, (&server{}).config(nil))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "secret@", text)
		require.NotContains(t, err.Error(), "=secret", text)
	}
}

// seen are the requests that a transport has seen.
type seen []*http.Request

func (s *seen) Do(req *http.Request) (*http.Response, error) {
	*s = append(*s, req)
	return answer(req, 404, "NoSuchKey"), nil
}

// TestAddresses is where requests go.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"s3://bucket?region=eu-west-1":                                    "https://bucket.s3.eu-west-1.amazonaws.com/p-1/a",
		"s3://bucket/my/prefix/?region=eu-west-1":                         "https://bucket.s3.eu-west-1.amazonaws.com/my/prefix/p-1/a",
		"s3://bucket/prefix?region=eu-west-1&style=path":                  "https://s3.eu-west-1.amazonaws.com/bucket/prefix/p-1/a",
		"s3://bucket/prefix?endpoint=host.example":                        "https://host.example/bucket/prefix/p-1/a",
		"s3://bucket/prefix?endpoint=http://host.example:9000&style=path": "http://host.example:9000/bucket/prefix/p-1/a",
		"s3://bucket/prefix?endpoint=https://host.example&style=host":     "https://bucket.host.example/prefix/p-1/a",
	} {
		var made seen
		r, err := Open(t.Context(), text, (&server{}).config(&made))
		require.NoError(t, err, text)
		_, _ = r.Get(t.Context(), part, "a", "") // there is none
		require.Len(t, made, 1, text)
		got := *made[0].URL
		got.RawQuery = ""
		require.Equal(t, want, got.String(), text)
	}
}

// TestIdentities: remotes are the same where bucket, prefix and service are.
func TestIdentities(t *testing.T) {
	t.Parallel()
	identity := func(text string) string {
		r, err := Open(t.Context(), text, (&server{}).config(nil))
		require.NoError(t, err)
		info, err := r.Info(t.Context())
		require.NoError(t, err)
		return info.Identity
	}
	one := identity("s3://bucket/prefix?region=eu-west-1")
	require.Equal(t, one, identity("s3://bucket/prefix/?region=eu-west-1&style=path"))
	for _, text := range []string{"s3://bucket?region=eu-west-1", "s3://other/prefix?region=eu-west-1", "s3://bucket/prefix?endpoint=host.example"} {
		require.NotEqual(t, one, identity(text))
	}
}

// TestKeys finds keys, region and endpoint where the AWS tools have them.
func TestKeys(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
	}
	file := func(name, text string) string {
		path := filepath.Join(home, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file("credentials", "[work]\naws_access_key_id = work-key\naws_secret_access_key = s\n"))
	t.Setenv("AWS_CONFIG_FILE", file("config", "[profile work]\nregion = eu-north-1\nendpoint_url = http://service.invalid\n"))
	ask := func(text string) *http.Request {
		t.Helper()
		var made seen
		r, err := Open(t.Context(), text, nil)
		require.NoError(t, err)
		o := r.client.Options()
		o.HTTPClient.(*wire).next = &made
		_, _ = r.Get(t.Context(), part, "a", "") // there is none
		require.Len(t, made, 1)
		return made[0]
	}
	req := ask("s3://bucket?profile=work")
	require.Contains(t, req.Header.Get("Authorization"), "Credential=work-key/")
	require.Contains(t, req.Header.Get("Authorization"), "/eu-north-1/s3/")
	require.Equal(t, "service.invalid", req.URL.Host)
	require.Equal(t, "/bucket/p-1/a", req.URL.Path)
	t.Setenv("AWS_ACCESS_KEY_ID", "own-key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	t.Setenv("AWS_SESSION_TOKEN", "token")
	t.Setenv("AWS_REGION", "eu-west-3")
	req = ask("s3://bucket")
	require.Contains(t, req.Header.Get("Authorization"), "Credential=own-key/")
	require.Equal(t, "token", req.Header.Get("X-Amz-Security-Token"))
	require.Equal(t, "bucket.s3.eu-west-3.amazonaws.com", req.URL.Host)
	_, err := Open(t.Context(), "s3://bucket?profile=none", nil)
	require.Error(t, err)
	_, err = Open(t.Context(), "s3://bucket?profile=work", (&server{}).config(nil))
	require.ErrorContains(t, err, "a configuration of its own")
}
