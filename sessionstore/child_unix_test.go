//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() {
	children["full"] = saveOnFullDisk
	children["readonly"] = saveWithoutPermission
}

// TestRealFullDisk saves with no more space in files than there is.
func TestRealFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1")), sessionstore.Metadata{}))
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1"), user("2")), sessionstore.Metadata{}))
	before := tree(t, dir)
	testenv.Spawn(t, "full", dir, "").End(t)
	after := tree(t, dir)
	require.Len(t, after, len(before), "no temporary file stays")
	for _, name := range []string{transcriptFile, metadataFile} {
		require.Equal(t, before["s/"+name], after["s/"+name])
	}
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []string{user("1"), user("2")}, lines(s.Messages))
}

// saveOnFullDisk limits the size of files below what a save needs.
func saveOnFullDisk(dir, _ string) error {
	signal.Ignore(syscall.SIGXFSZ)
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	s, err := st.Load(context.Background(), "s")
	if err != nil {
		return err
	}
	limit := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = 1 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	big, err := sessionstore.ParseMessage([]byte(user(strings.Repeat("x", 1<<20))))
	if err != nil {
		return err
	}
	extended := append(s.Messages[:2:2], big)
	for _, rows := range [][]sessionstore.Message{extended, {big}} {
		if err := st.Save(context.Background(), "s", rows, s.Metadata); !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("save on a full disk: %w", err)
		}
	}
	return st.Close()
}

// TestRealReadOnly saves where nothing may be written.
func TestRealReadOnly(t *testing.T) {
	t.Parallel()
	top := enterable(t)
	dir := filepath.Join(top, "sessions")
	st := open(t, dir, nil)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1")), sessionstore.Metadata{}))
	before := tree(t, dir)
	if os.Getuid() == 0 { // whom permissions do not bind: the child is nobody
		for _, path := range []string{top, dir, filepath.Join(dir, "s")} {
			require.NoError(t, os.Chown(path, nobody, nobody))
		}
		for name := range before {
			require.NoError(t, os.Chown(filepath.Join(dir, filepath.FromSlash(name)), nobody, nobody))
		}
	}
	for _, path := range []string{filepath.Join(dir, "s"), dir} {
		require.NoError(t, os.Chmod(path, 0o500))
	}
	testenv.Spawn(t, "readonly", dir, "").End(t)
	for _, path := range []string{dir, filepath.Join(dir, "s")} {
		require.NoError(t, os.Chmod(path, 0o700))
	}
	require.Equal(t, before, tree(t, dir))
}

const nobody = 65534

// enterable returns a new directory that the child can reach, as nobody cannot
// reach every temporary directory. It is in memory where the system has such.
func enterable(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		return t.TempDir()
	}
	for _, place := range []string{"/dev/shm", os.TempDir(), "/tmp", "/var/tmp"} {
		if !openForAll(place) {
			continue
		}
		dir, err := os.MkdirTemp(place, "enterable-")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		return dir
	}
	require.FailNow(t, "every user can reach none of the temporary directories")
	return ""
}

// openForAll reports whether every user may enter a directory and those above.
func openForAll(dir string) bool {
	info, err := os.Stat(dir)
	above := filepath.Dir(dir)
	return err == nil && info.Mode()&0o001 != 0 && (above == dir || openForAll(above))
}

// saveWithoutPermission tries every call that writes, as a user who may only read.
func saveWithoutPermission(dir, _ string) error {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := st.Load(ctx, "s")
	if err != nil || len(s.Messages) != 1 {
		return fmt.Errorf("load: %w", err)
	}
	for _, call := range calls {
		if call.name == "Load" || call.name == "Messages" || call.name == "Metadata" {
			continue
		}
		for _, id := range []string{"s", "new"} {
			err := call.do(ctx, st, id)
			missing := errors.Is(err, sessionstore.ErrNotFound) && id == "new"
			if !errors.Is(err, fs.ErrPermission) && !missing && !(call.name == "Create" && errors.Is(err, fs.ErrExist)) {
				return fmt.Errorf("%s of %s: %w", call.name, id, err)
			}
		}
	}
	return st.Close()
}
