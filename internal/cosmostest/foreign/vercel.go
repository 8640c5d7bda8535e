package foreign

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

const (
	vercelVersion = "1.0.1"
	leastNode     = 20
)

// packages names the versions of all packages that the server needs.
//
//go:embed vercel
var packages embed.FS

// Vercel installs and starts @vercel/cosmosdb-server. It checks no key, so
// any will do. The client mends three of its requests and answers: see [shim].
func Vercel(t testing.TB) Account {
	t.Helper()
	testenv.Soak(t, "it needs an emulator")
	node, err := exec.LookPath("node")
	testenv.Need(t, err == nil, "node is not installed")
	version, _, _ := strings.Cut(strings.TrimPrefix(run(t, "", nil, node, "--version"), "v"), ".")
	n, err := strconv.Atoi(version)
	testenv.Need(t, err == nil && n >= leastNode, "node is older than version "+strconv.Itoa(leastNode))
	npm, err := exec.LookPath("npm")
	testenv.Need(t, err == nil, "npm is not installed")
	dir := installed(t, "vercel-cosmosdb-server-"+vercelVersion, func(dir string) {
		for _, name := range []string{"package.json", "package-lock.json"} {
			data, err := packages.ReadFile("vercel/" + name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		}
		run(t, dir, nil, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	})
	address := start(t, "Ready to accept HTTP connections at ", node,
		filepath.Join(dir, "node_modules", "@vercel", "cosmosdb-server", "lib", "cli.js"),
		"--no-ssl", "--host", "127.0.0.1", "-p", "0")
	return Account{
		Name: "vercel", Endpoint: "http://" + address + "/",
		Key:    base64.StdEncoding.EncodeToString(make([]byte, 64)),
		Client: newClient(t, func(next http.RoundTripper) http.RoundTripper { return shim{next} }),
	}
}

// shim lets azcosmos work with the server, which otherwise fails on a read of
// a missing document without a certain header, on operations of a batch that
// do not each carry the partition key, and gives the ids of partition key
// ranges as numbers.
type shim struct{ next http.RoundTripper }

func (s shim) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/docs/") {
		r.Header.Set("x-ms-documentdb-query-enablecrosspartition", "True")
	}
	if r.Header.Get("x-ms-cosmos-is-batch-request") != "" {
		if err := addKeys(r); err != nil {
			return nil, err
		}
	}
	answer, err := s.next.RoundTrip(r)
	if err != nil || !strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/pkranges") {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	if closing := answer.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, []byte(`"id":0`), []byte(`"id":"0"`))
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
	return answer, nil
}

// addKeys gives each operation of a batch the request's partition key.
func addKeys(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if closing := r.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	var operations []map[string]json.RawMessage
	if err := json.Unmarshal(body, &operations); err != nil {
		return err
	}
	key, err := json.Marshal(r.Header.Get("x-ms-documentdb-partitionkey"))
	if err != nil {
		return err
	}
	for _, o := range operations {
		o["partitionKey"] = key
	}
	if body, err = json.Marshal(operations); err != nil {
		return err
	}
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return nil
}
