package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// A server is a PostgreSQL server, or a PgBouncer, in a directory of its own.
type server struct {
	program string
	args    []string
	dir     string // also of its socket
	port    string
	as      *syscall.Credential // it refuses to run as root
	cmd     *exec.Cmd
	ended   chan struct{}
}

// shared is the server of the tests that do not stop theirs; nil where none is installed.
var shared *server

func init() { runtime.LockOSThread() } // what TestMain starts ends with the process

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "postgres")
		if err == nil {
			err = testenv.Apart(filepath.Join(dir, "state"))
		}
		if bin := programs(); err == nil && bin != "" {
			shared, err = newServer(bin, filepath.Join(dir, "server"))
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if shared != nil {
			defer shared.stop()
		}
		return m.Run()
	}())
}

// programs returns the folder of the server's programs, as Debian has it; "" for none.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// running returns the shared server.
func running(t *testing.T) *server {
	t.Helper()
	testenv.Need(t, shared != nil, "PostgreSQL is not installed")
	return shared
}

// own starts a server for one test.
func own(t *testing.T) *server {
	t.Helper()
	running(t)
	s, err := newServer(programs(), filepath.Join(scratch(t), "server"))
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// scratch returns a directory that the server's user may enter, as t.TempDir's may not be.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// newServer makes a database and starts its server.
func newServer(bin, dir string) (*server, error) {
	s, err := at(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	made := exec.Command(filepath.Join(bin, "initdb"), "--pgdata="+data, "--auth=trust", "--username=admin", "--encoding=UTF8", "--no-sync")
	made.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	if out, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.program = filepath.Join(bin, "postgres")
	s.args = []string{"-D", data, "-k", dir, "-h", "127.0.0.1", "-p", s.port, "-c", "max_connections=200", "-c", "max_prepared_transactions=5"}
	return s, s.start()
}

// at makes the directory of a server, and finds a port.
func at(dir string) (*server, error) {
	s := &server{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil || os.Getuid() != 0 {
		return s, err
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return s, errors.Join(os.Chmod(filepath.Dir(dir), 0o711), os.Chown(dir, int(uid), int(gid))) //nolint:gosec // of a test
}

// start starts the server, and waits until it answers.
func (s *server) start() error {
	s.cmd = exec.Command(s.program, s.args...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	s.cmd.Dir = s.dir
	log, err := os.OpenFile(filepath.Join(filepath.Dir(s.dir), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
	}()
	for end := time.Now().Add(time.Minute); ; {
		c, err := pgx.Connect(context.Background(), s.address("admin", "postgres"))
		if err == nil {
			return c.Close(context.Background())
		}
		select {
		case <-s.ended:
			end = time.Time{}
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(end) {
			s.stop()
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%s does not answer: %w: %s", s.program, err, text)
		}
	}
}

// stop ends the server and all connections.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	<-s.ended
}

// kill is what a power cut does to the server's processes.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	<-s.ended
}

func (s *server) address(role, database string) string {
	return "postgres://" + role + "@127.0.0.1:" + s.port + "/" + database
}

// do runs statements as the administrator.
func (s *server) do(t *testing.T, database, text string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.address("admin", database))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	_, err = c.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
}

var databases atomic.Int64

// provisioned makes a database with the table, and returns its name.
func (s *server) provisioned(t *testing.T) string {
	t.Helper()
	name := fmt.Sprint("test_", databases.Add(1))
	s.do(t, "postgres", `CREATE DATABASE `+name+` TEMPLATE template0`)
	require.NoError(t, Provision(t.Context(), s.address("admin", name)))
	return name
}

// connect returns the remote at an address.
func connect(t *testing.T, address string) *Remote {
	t.Helper()
	r, err := Connect(address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}
