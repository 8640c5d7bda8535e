package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// fresh returns a remote without objects: each has a schema of its own.
func fresh(t *testing.T, s *server, database string) remote.Remote {
	t.Helper()
	address := fmt.Sprintf("%s?schema=s_%d", s.address("admin", database), databases.Add(1))
	require.NoError(t, Provision(t.Context(), address))
	return connect(t, address)
}

func TestRemote(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	remotetest.Run(t, func(t *testing.T) remote.Remote { return fresh(t, s, database) })
}

// TestBouncer is a remote behind PgBouncer, which gives each transaction any connection.
func TestBouncer(t *testing.T) {
	t.Parallel()
	s := running(t)
	database := s.provisioned(t)
	b := bouncer(t, s)
	remotetest.Run(t, func(t *testing.T) remote.Remote { return fresh(t, b, database) })
}

// bouncer starts a PgBouncer before a server.
func bouncer(t *testing.T, s *server) *server {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	testenv.Need(t, err == nil, "PgBouncer is not installed")
	b, err := at(filepath.Join(scratch(t), "bouncer"))
	require.NoError(t, err)
	b.program = program
	b.args = b.settings(t, s)
	require.NoError(t, b.start())
	t.Cleanup(b.stop)
	return b
}

// settings writes the settings of a PgBouncer, and returns its arguments.
func (b *server) settings(t *testing.T, s *server) []string {
	t.Helper()
	path := filepath.Join(b.dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\nauth_file = %s\n"+
		"pool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 500\n", s.port, b.port, filepath.Join(b.dir, "users"))
	text = strings.Replace(text, "[databases]\n* = ", "[databases]\n* = user=admin ", 1)
	for name, content := range map[string]string{path: text, filepath.Join(b.dir, "users"): "\"admin\" \"\"\n"} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644)) //nolint:gosec // another user reads it
	}
	return []string{path}
}

// TestOppositeOrders stores the same objects in opposite orders at once: no two wait for each other.
func TestOppositeOrders(t *testing.T) {
	t.Parallel()
	s := running(t)
	r := connect(t, s.address("admin", s.provisioned(t)))
	var objects []remote.Object
	for i := range 50 {
		objects = append(objects, remote.Object{Name: fmt.Sprint("o-", i), Label: []byte(`{}`)})
	}
	back := slices.Clone(objects)
	slices.Reverse(back)
	errs := make(chan error)
	for i := range 4 {
		go func() {
			var err error
			for range 20 {
				_, failed := r.Commit(t.Context(), part, [][]remote.Object{objects, back}[i%2], nil)
				err = errors.Join(err, failed)
			}
			errs <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
}
