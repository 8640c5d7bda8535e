package s3

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestDevices has two devices take turns in a session; the server is killed in between, and
// one device goes on without it.
func TestDevices(t *testing.T) {
	t.Parallel()
	s := &server{}
	require.NoError(t, s.start(t.Context(), versitygw, filepath.Join(t.TempDir(), "server")))
	t.Cleanup(s.kill)
	open := func(name, dir string) *hybrid.Store {
		to, err := Open(t.Context(), s.place("shared"), s.config(nil))
		require.NoError(t, err)
		st, err := hybrid.Open(t.Context(), dir, &hybrid.Options{Remote: to, Project: "turns", User: "ada", Device: name, Manual: true, Limits: &hybrid.Limits{FirstAnswer: time.Minute}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = st.Close() }) // perhaps it was closed
		return st
	}
	say := func(st *hybrid.Store, text string) {
		m, err := sessionstore.Text("user", text, time.Now())
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", m))
	}
	here, there := t.TempDir(), t.TempDir()
	a, b := open("a", here), open("b", there)
	for i := range 4 {
		st := []*hybrid.Store{a, b}[i%2]
		if i > 0 {
			_, err := st.Refresh(t.Context(), "s")
			require.NoError(t, err)
		}
		say(st, fmt.Sprint("turn ", i))
		_, err := st.Sync(t.Context(), "s")
		require.NoError(t, err)
		if i == 1 {
			s.kill()
			s.again(t)
		}
	}
	_, err := a.Refresh(t.Context(), "s")
	require.NoError(t, err)
	s.kill()
	say(a, "offline")
	_, err = a.Sync(t.Context(), "s")
	require.ErrorIs(t, err, hybrid.ErrUnreachable)
	require.NoError(t, a.Close())
	s.again(t)
	// The next run of the program sends the turn.
	_, err = open("a", here).Sync(t.Context(), "s")
	require.NoError(t, err)
	require.NoError(t, b.Close())
	b = open("b", there)
	_, err = b.Refresh(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []string{"turn 0", "turn 1", "turn 2", "turn 3", "offline"}, texts(t, b))
}

// TestAnotherEndpoint opens a directory with another name of the host of its bucket: no head is
// read but those that a Sync asks for anyway, and nothing is written.
func TestAnotherEndpoint(t *testing.T) {
	t.Parallel()
	for name := range servers {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			address, dir := serve(t, name), t.TempDir()
			_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
			require.NoError(t, err)
			const sessions = 20
			for _, host := range []string{"127.0.0.1", "127.0.0.1", "localhost", "127.0.0.1"} {
				count := &counter{}
				s := &server{address: "http://" + net.JoinHostPort(host, port)}
				to, err := Open(t.Context(), s.place("endpoints"), s.config(count))
				require.NoError(t, err)
				st, err := hybrid.Open(t.Context(), dir, &hybrid.Options{Remote: to, Project: "endpoints", User: "ada", Device: "a", Manual: true, Limits: &hybrid.Limits{FirstAnswer: time.Minute}})
				require.NoError(t, err)
				fresh := !st.Exists("s0")
				for i := range sessions {
					m, err := sessionstore.Text("user", "hello", time.Now())
					require.NoError(t, err)
					if fresh {
						require.NoError(t, st.Append(t.Context(), fmt.Sprint("s", i), m))
					}
				}
				r, err := st.Sync(t.Context())
				require.NoError(t, err)
				require.NoError(t, st.Close())
				require.Equal(t, sessions, r.Sessions)
				if host == "localhost" {
					require.Zero(t, count.n.puts)
					require.LessOrEqual(t, count.n.gets, 2+6+sessions, "the entry at Open and at the list, six heads, and the labels of a list in a new process")
					require.Equal(t, 1, count.n.lists)
				}
			}
		})
	}
}

// kill ends a server as a power cut ends its process.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// again starts a server that was killed at its address.
func (s *server) again(t *testing.T) {
	t.Helper()
	was := s.cmd
	s.cmd = exec.Command(was.Path, was.Args[1:]...)
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = was.Env, was.Dir, was.Stderr
	require.NoError(t, s.cmd.Start())
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
		return err == nil && c.Close() == nil
	}, time.Minute, 5*time.Millisecond)
}
