package powercut

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/device"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// passChild mounts a file system of FUSE that has what is in a directory, and prints its process.
func passChild(from, at string) error {
	root, err := fs.NewLoopbackRoot(from)
	if err != nil {
		return err
	}
	server, err := fs.Mount(at, root, &fs.Options{MountOptions: fuse.MountOptions{Name: "pass", FsName: "pass", DirectMount: true}})
	if err != nil {
		return err
	}
	fmt.Println(os.Getpid())
	server.Wait()
	return nil
}

// fuseShare is a directory that devices reach by FUSE.
type fuseShare struct {
	*testing.T
	from, at string
	server   *testenv.Process
	process  int
}

func (s *fuseShare) mount() {
	s.server = testenv.Spawn(s.T, "pass", s.from, s.at)
	line, _ := s.server.Line()
	var err error
	s.process, err = strconv.Atoi(line)
	require.NoError(s, err, "the file system of FUSE does not start")
}

// ends kills the process of the file system. What is mounted answers that it is not connected.
func (s *fuseShare) ends() {
	s.server.Kill()
	_, err := os.Stat(s.at)
	require.ErrorIs(s, err, unix.ENOTCONN)
}

// on opens a device as a new process does, which waits for a remote that did not answer.
func (s *fuseShare) on(name string, r *dir.Remote, do func(*hybrid.Store) error) error {
	st, err := hybrid.Open(s.Context(), filepath.Join(filepath.Dir(s.at), name, "sessions"), &hybrid.Options{
		Remote: r, Project: "demo", User: "ada", Device: name, Manual: true,
	})
	require.NoError(s, err)
	err = do(st)
	if closed := st.Close(); !errors.Is(closed, hybrid.ErrDeferred) {
		require.NoError(s, closed)
	}
	return err
}

// say writes to the session on device a.
func (s *fuseShare) say(r *dir.Remote, text string) {
	require.NoError(s, s.on("a", r, func(st *hybrid.Store) error {
		m, err := sessionstore.Text("user", text, time.Now())
		require.NoError(s, err)
		return st.Append(s.Context(), "s", m)
	}))
}

// fails requires a sync of device a to report that the directory cannot be reached.
func (s *fuseShare) fails(r *dir.Remote) {
	ctx, cancel := context.WithTimeout(s.Context(), time.Second)
	defer cancel()
	err := s.on("a", r, func(st *hybrid.Store) error { _, err := st.Sync(ctx); return err })
	require.ErrorIs(s, err, hybrid.ErrUnreachable)
}

// syncs requires that device b gets these lines of device a.
func (s *fuseShare) syncs(r *dir.Remote, want ...string) {
	s.Helper()
	require.NoError(s, s.on("a", r, func(st *hybrid.Store) error { _, err := st.Sync(s.Context()); return err }))
	require.NoError(s, s.on("b", r, func(st *hybrid.Store) error { _, err := st.Pull(s.Context()); return err }))
	require.NoError(s, s.on("b", r, func(st *hybrid.Store) error {
		session, err := st.Load(s.Context(), "s")
		require.NoError(s, err)
		var texts []string
		for _, m := range session.Messages {
			texts = append(texts, m.Content())
		}
		require.Equal(s, want, texts)
		return nil
	}))
}

// TestDirectoryOnFUSE refuses a directory of FUSE, and syncs by it where it is trusted. While it
// hangs, and once its process ended, it cannot be reached, and devices write on. They sync when it
// answers, or another process mounted it again.
func TestDirectoryOnFUSE(t *testing.T) {
	t.Parallel()
	missing := device.Missing(nil)
	testenv.Need(t, missing == "", missing)
	top := t.TempDir()
	s := &fuseShare{T: t, from: filepath.Join(top, "from"), at: filepath.Join(top, "at")}
	for _, name := range []string{s.from, s.at} {
		require.NoError(t, os.Mkdir(name, 0o700))
	}
	s.mount()
	t.Cleanup(func() { _ = unix.Unmount(s.at, unix.MNT_DETACH) }) // where the test failed
	place := filepath.Join(s.at, "remote")
	for _, open := range []func(context.Context, string) error{dir.Provision, func(ctx context.Context, p string) error { _, err := dir.Open(ctx, p); return err }} {
		err := open(t.Context(), place)
		require.ErrorIs(t, err, hybrid.ErrBlocked)
		require.ErrorContains(t, err, "it is on FUSE, where two devices may both get a name: if yours keeps that apart, add ?trusted=1 to the path")
	}
	require.NoError(t, dir.Provision(t.Context(), place+"?trusted=1"))
	r, err := dir.Open(t.Context(), place+"?trusted=1")
	require.NoError(t, err)
	s.say(r, "one")
	s.syncs(r, "one")

	require.NoError(t, unix.Kill(s.process, unix.SIGSTOP))
	s.say(r, "two")
	s.fails(r)
	hung, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = dir.Open(hung, place+"?trusted=1")
	require.ErrorIs(t, err, hybrid.ErrUnreachable)
	s.say(r, "three")
	require.NoError(t, unix.Kill(s.process, unix.SIGCONT))
	s.syncs(r, "one", "two", "three")

	s.ends()
	s.say(r, "four")
	s.fails(r)
	_, err = dir.Open(t.Context(), place+"?trusted=1")
	require.ErrorIs(t, err, hybrid.ErrUnreachable)
	require.NoError(t, unix.Unmount(s.at, unix.MNT_DETACH))
	s.fails(r)
	s.mount()
	s.syncs(r, "one", "two", "three", "four")
	require.NoError(t, r.Close())
	require.NoError(t, unix.Unmount(s.at, 0))
	s.server.End(t)
}
