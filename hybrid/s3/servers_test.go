package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

const (
	testBucket = "sessions"
	accessKey  = "test-access-key"
	secretKey  = "test-secret-key"
)

// servers are programs of testdata/servers, by the names of their packages, and how they are
// started: they serve below a folder at an address.
var servers = map[string]func(program, folder, address string) *exec.Cmd{
	"github.com/johannesboyne/gofakes3/cmd/gofakes3": func(program, _, address string) *exec.Cmd {
		return exec.Command(program, "-backend=memory", "-quiet", "-host="+address)
	},
	"github.com/versity/versitygw/cmd/versitygw": func(program, folder, address string) *exec.Cmd {
		files, meta := filepath.Join(folder, "files"), filepath.Join(folder, "meta")
		cmd := exec.Command(program, "--port", address, "--quiet", "posix", "--sidecar", meta, files)
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
		cmd.Dir = folder
		return cmd
	},
}

const (
	gofakes3  = "github.com/johannesboyne/gofakes3/cmd/gofakes3"
	versitygw = "github.com/versity/versitygw/cmd/versitygw"
)

// running are the servers that tests have started, by their names.
var running = struct {
	sync.Mutex
	folder string
	began  map[string]*server
}{began: map[string]*server{}}

// server is a server that runs until the tests end.
type server struct {
	once    sync.Once
	address string
	cmd     *exec.Cmd
	err     error
}

// TestMain ends the servers after the tests.
func TestMain(m *testing.M) {
	state, err := os.MkdirTemp("", "test-state-")
	if err == nil {
		err = testenv.Apart(state)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(state)
	for _, s := range running.began {
		if s.cmd != nil && s.cmd.Process != nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	}
	_ = os.RemoveAll(running.folder)
	os.Exit(code)
}

// serve returns the address of a server, which it builds and starts where it does not run.
func serve(t *testing.T, name string) string {
	t.Helper()
	running.Lock()
	if running.folder == "" {
		folder, err := os.MkdirTemp("", "s3")
		require.NoError(t, err)
		running.folder = folder
	}
	s := running.began[name]
	if s == nil {
		s = &server{}
		running.began[name] = s
	}
	running.Unlock()
	s.once.Do(func() { s.err = s.start(t.Context(), name, filepath.Join(running.folder, filepath.Base(name))) })
	require.NoError(t, s.err)
	return s.address
}

func (s *server) start(ctx context.Context, name, folder string) error {
	for _, part := range []string{"files", "meta"} {
		if err := os.MkdirAll(filepath.Join(folder, part), 0o700); err != nil {
			return err
		}
	}
	build := exec.Command("go", "tool", "-n", name) // builds it where the cache does not have it
	build.Dir, build.Stderr = filepath.Join("testdata", "servers"), os.Stderr
	program, err := build.Output()
	if err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	s.cmd, s.address = servers[name](strings.TrimSpace(string(program)), folder, address), "http://"+address
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return err
	}
	r, err := open(ctx, s.place(""), s.config(nil))
	for ; err == nil; time.Sleep(20 * time.Millisecond) {
		c, away := net.Dial("tcp", address)
		if away != nil {
			continue
		}
		_ = c.Close()
		_, err = r.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(testBucket)}, func(o *s3.Options) { o.HTTPClient = http.DefaultClient })
		if err != nil {
			return fmt.Errorf("create bucket: %w", err)
		}
		return nil
	}
	return err
}

func (s *server) place(prefix string) string {
	return fmt.Sprintf("s3://%s/%s?endpoint=%s", testBucket, prefix, s.address)
}

// config returns the configuration of a client with the test's key, over a transport.
func (s *server) config(over aws.HTTPClient) *aws.Config {
	return &aws.Config{Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""), HTTPClient: over}
}

// prefix is a prefix of its own for a run of a test.
func prefix(t *testing.T) string { return filepath.Base(filepath.Dir(t.TempDir())) }

// opened opens the prefix of a test on a server, over a transport; nil: the usual one.
func opened(t *testing.T, name string, over aws.HTTPClient) *Remote {
	t.Helper()
	s := &server{address: serve(t, name)}
	r, err := Open(t.Context(), s.place(prefix(t)), s.config(over))
	require.NoError(t, err)
	return r
}

var _ remote.Remote = (*Remote)(nil)
