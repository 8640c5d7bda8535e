// Package foreign starts servers for Azure Cosmos DB by other authors, for tests: their
// behaviour does not depend on this project's idea of the service. [Vercel] needs Node and
// npm, [Cosmium] the Go command; where they are missing the test is skipped, or fails when
// the environment variable CI is set. [Real] is an account that the environment names.
//
// Programs are installed once, below the user's cache directory, and each call
// starts a process of its own on a loopback address that ends with the test.
// Neither server keeps data, and both differ from the service in ways that the
// tests of package cosmostest list.
package foreign

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
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

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// An Account is a server that runs.
type Account struct {
	Endpoint string // URL
	Key      string // in base64
	Client   *http.Client
}

// Real returns the account that COSMOS_ENDPOINT names, if it does. COSMOS_KEY must then be
// its key: the tests make databases of their own there, which no data role may, and
// azidentity is no dependency of this module. The test without a key is examples/cloudsync,
// a module of its own, which signs in.
func Real(t testing.TB) (Account, bool) {
	t.Helper()
	endpoint, key := os.Getenv("COSMOS_ENDPOINT"), os.Getenv("COSMOS_KEY")
	if endpoint == "" {
		return Account{}, false
	}
	require.NotEmpty(t, key, "COSMOS_KEY is not set")
	return Account{Endpoint: endpoint, Key: key, Client: newClient(t, nil)}, true
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
		run(t, filepath.Join(root, "internal", "test", "cosmostest", "cosmium"), env,
			tool, "build", "-o", filepath.Join(dir, binary), "github.com/pikami/cosmium/cmd/server")
	})
	var random [64]byte
	_, _ = rand.Read(random[:])
	key, port := base64.StdEncoding.EncodeToString(random[:]), freePort(t)
	return start(t, Account{Endpoint: "http://127.0.0.1:" + port + "/", Key: key, Client: newClient(t, nil)},
		filepath.Join(dir, binary), "-DisableTls", "-Host", "127.0.0.1", "-Port", port, "-AccountKey", key, "-LogLevel", "silent")
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
	port := freePort(t)
	return start(t, Account{
		Endpoint: "http://127.0.0.1:" + port + "/",
		Key:      base64.StdEncoding.EncodeToString(make([]byte, 64)),
		Client:   newClient(t, func(next http.RoundTripper) http.RoundTripper { return shim{next} }),
	}, node, filepath.Join(dir, "node_modules", "@vercel", "cosmosdb-server", "lib", "cli.js"), "--no-ssl", "--host", "127.0.0.1", "-p", port)
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

// installLimit is the longest wait for another process that installs.
const installLimit = 20 * time.Minute

// installed returns the folder name of the cache, in which install has run to
// its end, in this process or another one.
func installed(t testing.TB, name string, install func(dir string)) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	testenv.Need(t, err == nil, "there is no cache directory for servers")
	dir := filepath.Join(cache, "cosmos-emulators", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	lock, err := lock.Acquire(t.Context(), root, ".lock", lock.Options{Limit: installLimit})
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Unlock()) }()
	done := filepath.Join(dir, ".complete")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	install(dir)
	require.NoError(t, os.WriteFile(done, nil, 0o644))
	return dir
}

// run runs a program to its end, in dir and with variables beside the process's own.
// Without success the test is skipped, or fails in CI: the network may be missing.
func run(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	reason := ""
	if err != nil {
		reason = fmt.Sprintf("%s %v: %v", name, args, err)
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			reason += ": " + string(exit.Stderr)
		}
	}
	testenv.Need(t, err == nil, reason)
	return string(out)
}

// startLimit is how long a server may take until it answers.
const startLimit = 3 * time.Minute

// start starts a server that ends with the test, and asks it until it answers, whatever that is.
func start(t testing.TB, a Account, name string, args ...string) Account {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		r, err := a.Client.Get(a.Endpoint)
		if err == nil {
			_ = r.Body.Close()
		}
		return err == nil
	}, startLimit, 5*time.Millisecond, "%s %v", name, args)
	return a
}

// freePort returns a port that nothing listens on, for a program that cannot choose one
// itself. It is below the range from which systems give out ports, so that no other test
// gets it until the program listens.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(15_000 + mathrand.IntN(15_000))
		l, err := net.Listen("tcp", ":"+port)
		if err != nil {
			continue // another process has it
		}
		require.NoError(t, l.Close())
		return port
	}
	require.Fail(t, "no port is free")
	return ""
}
