// Package foreign starts servers for Azure Cosmos DB that others wrote, for
// tests: what a test finds of them is no echo of this project's own idea of
// the service. [Vercel] needs Node and npm, [Cosmium] the Go command; where
// they are missing the test is skipped, or fails when the environment variable
// CI is set. [Real] is an account that the environment names.
//
// Programs are installed once, below the user's cache directory, and each call
// starts a process of its own on a loopback address that ends with the test.
// Neither server keeps data, and both differ from the service in ways that the
// tests of package cosmostest list.
package foreign

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// An Account is a server that runs.
type Account struct {
	Name     string
	Endpoint string // URL
	Key      string // in base64
	Client   *http.Client
}

// Real returns the account that COSMOS_ENDPOINT names, if it does; then
// COSMOS_KEY has to be its key: the tests make databases of their own there,
// which no data role may, and azidentity is no dependency of this module. What
// signs in without a key is examples/cloudsync, a module of its own.
func Real(t testing.TB) (Account, bool) {
	t.Helper()
	endpoint, key := os.Getenv("COSMOS_ENDPOINT"), os.Getenv("COSMOS_KEY")
	if endpoint == "" {
		return Account{}, false
	}
	require.NotEmpty(t, key, "COSMOS_KEY is not set")
	return Account{Name: "real", Endpoint: endpoint, Key: key, Client: newClient(t, nil)}, true
}

// idleLimit is how long a connection may be idle and be used again. Node ends
// those that were idle for 5 s, also while the next request is on its way there.
const idleLimit = 2 * time.Second

// newClient returns a client whose connections end with the test; wrap, if
// not nil, changes its requests.
func newClient(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *http.Client {
	base := &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: idleLimit, Proxy: http.ProxyFromEnvironment}
	t.Cleanup(base.CloseIdleConnections)
	if wrap == nil {
		return &http.Client{Transport: base}
	}
	return &http.Client{Transport: wrap(base)}
}

const (
	module         = "github.com/amplifier-go/sessionstorage"
	cosmiumVersion = "v0.1.20"
)

// Cosmium builds and starts github.com/pikami/cosmium. It listens on all
// addresses, so its key is a random one, which it does check.
func Cosmium(t testing.TB) Account {
	t.Helper()
	testenv.Soak(t, "it needs an emulator")
	tool, err := exec.LookPath("go")
	testenv.Need(t, err == nil, "the go command is not installed")
	env := []string{"GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=", "CGO_ENABLED=0"}
	binary := "cosmium"
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	dir := installed(t, "cosmium-"+cosmiumVersion, func(dir string) {
		root := strings.TrimSpace(run(t, "", env, tool, "list", "-m", "-f", "{{.Dir}}", module))
		run(t, filepath.Join(root, "internal", "cosmostest", "cosmium"), env,
			tool, "build", "-o", filepath.Join(dir, binary), "github.com/pikami/cosmium/cmd/server")
	})
	var random [64]byte
	_, _ = rand.Read(random[:])
	key, port := base64.StdEncoding.EncodeToString(random[:]), freePort(t)
	start(t, "", filepath.Join(dir, binary),
		"-DisableTls", "-Host", "127.0.0.1", "-Port", port, "-AccountKey", key, "-LogLevel", "silent")
	a := Account{Name: "cosmium", Endpoint: "http://127.0.0.1:" + port + "/", Key: key, Client: newClient(t, nil)}
	await(t, a.Client, a.Endpoint)
	return a
}

const (
	vercelVersion = "1.0.1"
	leastNode     = 20
)

// packages names the versions of all packages that the server needs.
//
//go:embed vercel
var packages embed.FS

// Vercel installs and starts @vercel/cosmosdb-server. It checks no key, so
// any will do. The client mends two kinds of requests: see [shim].
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
// a missing document without a certain header, and on operations of a batch that
// do not each carry the partition key.
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
	return s.next.RoundTrip(r)
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
