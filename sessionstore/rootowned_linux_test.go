package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func init() {
	children["goes on after root"] = goOnAfterRoot
	children["may not give"] = writeWithoutChown
}

// usersSession makes a session of nobody, who owns the projects around it too.
func usersSession(t *testing.T) (dir string) {
	t.Helper()
	testenv.Need(t, os.Getuid() == 0, "root alone writes into the sessions of another user")
	top := enterable(t)
	dir = filepath.Join(top, "p", "sessions")
	st := open(t, dir, nil)
	for n := range 2 {
		require.NoError(t, st.Save(t.Context(), "s", parse(t, user("one"), user("two"))[:n+1], metadata(t, `{"session_id": "s", "turn_count": 1}`)))
	}
	require.NoError(t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	return dir
}

// TestWhatRootMakesBelongsToTheUser has root write in a user's session, in new sessions
// and in a new project. All files belong to the user, for the owner alone, and the user
// goes on.
func TestWhatRootMakesBelongsToTheUser(t *testing.T) {
	t.Parallel()
	dir := usersSession(t)
	ctx := t.Context()
	st := open(t, dir, nil)
	require.NoError(t, st.Append(ctx, "s", parse(t, user("by root"))...))
	s, err := st.Load(ctx, "s")
	require.NoError(t, err)
	require.NoError(t, st.Save(ctx, "s", append(s.Messages, parse(t, user("again"))...), s.Metadata))
	_, err = st.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
	require.NoError(t, err)
	_, _, err = st.SetName(ctx, "s", sessionstore.Naming{Name: "n", Source: "manual"})
	require.NoError(t, err)
	require.NoError(t, st.SaveConfig(ctx, "s", metadata(t, `{"a": 1}`)))
	require.NoError(t, st.Append(ctx, "new", parse(t, user("new"))...))
	turn := 1
	_, err = slice.Fork(ctx, st, "s", &slice.ForkOptions{Turn: &turn})
	require.NoError(t, err)
	log, err := eventslog.Open(filepath.Join(dir, "s"), nil)
	require.NoError(t, err)
	require.NoError(t, log.Append(ctx, eventslog.Event{Name: "x"}))
	require.NoError(t, log.Close())
	for _, err := range st.Summaries(ctx, nil) {
		require.NoError(t, err)
	}
	open(t, filepath.Join(filepath.Dir(filepath.Dir(dir)), "new project", "sessions"), nil)
	require.NoError(t, filepath.WalkDir(filepath.Dir(filepath.Dir(dir)), func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		fi, err := e.Info()
		require.NoError(t, err)
		is := fi.Sys().(*syscall.Stat_t)
		require.Equal(t, [2]uint32{nobody, nobody}, [2]uint32{is.Uid, is.Gid}, path)
		if e.Type().IsRegular() && filepath.Ext(path) != ".lock" {
			require.Equal(t, fs.FileMode(0o600), fi.Mode().Perm(), path)
		}
		return nil
	}))
	testenv.Spawn(t, "goes on after root", dir, "").End(t)
	s, err = st.Load(ctx, "s")
	require.NoError(t, err)
	require.Len(t, s.Messages, 5)
}

// goOnAfterRoot appends as the user.
func goOnAfterRoot(dir, _ string) error {
	if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	m, err := sessionstore.ParseMessage([]byte(user("by the user")))
	if err != nil {
		return err
	}
	ctx := context.Background()
	return errors.Join(st.Append(ctx, "s", m), st.Append(ctx, "new", m), st.Close())
}

// TestRootMayNotGive writes as a root who may not change owners. Each call that would
// leave a file of root's says so, and changes nothing.
func TestRootMayNotGive(t *testing.T) {
	t.Parallel()
	dir := usersSession(t)
	before := tree(t, filepath.Join(dir, "s"))
	testenv.Spawn(t, "may not give", dir, "").End(t)
	require.Equal(t, before, tree(t, filepath.Join(dir, "s")))
	require.NoDirExists(t, filepath.Join(dir, "new"))
}

// writeWithoutChown writes as a root who may not change owners.
func writeWithoutChown(dir, _ string) error {
	if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_CHOWN, 0, 0, 0); err != nil {
		return err
	} else if has == 1 {
		return beginWithoutChown()
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	m, err := sessionstore.ParseMessage([]byte(user("by root")))
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := st.Load(ctx, "s")
	if err != nil {
		return err
	}
	for name, call := range map[string]func() error{
		"replace": func() error { _, err := st.Replace(ctx, "s", s.Revision, []sessionstore.Message{m}); return err },
		"update": func() error {
			_, err := st.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error { return md.Set("n", 9) })
			return err
		},
		"new": func() error { return st.Append(ctx, "new", m) },
	} {
		if err := call(); !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return st.Close()
}

// beginWithoutChown begins this program anew without the right to change owners.
func beginWithoutChown() error {
	runtime.LockOSThread() // exec takes over the rights of this thread
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_CHOWN, 0, 0, 0); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, os.Environ())
}
