//go:build unix

package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func init() {
	children["standard output"] = writeStandardOutput
	children["unprivileged"] = writeUnprivileged
	children["write forever"] = writeForever
}

// halves writes a text in two parts.
func halves(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text[:len(text)/2])
		if err == nil {
			_, err = io.WriteString(w, text[len(text)/2:])
		}
		return err
	}
}

// look returns what is below a directory: modes and contents, and where links lead.
func look(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		if e.Type() == fs.ModeSymlink {
			found[name], err = os.Readlink(path)
			return err
		}
		text, err := os.ReadFile(path)
		found[name] = fi.Mode().String() + " " + string(text)
		return err
	}))
	return found
}

// namedScene is a directory of names that a user may give: files, links to them, to nothing, in a
// circle, and through a linked folder.
func namedScene(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder", "deep"), 0o700))
	for name, mode := range map[string]fs.FileMode{"old": 0o640, "folder/old": 0o604, "read-only": 0o444} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("former"), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	for name, to := range map[string]string{
		"link": "old", "long": "link", "dangling": "folder/new", "absolute": filepath.Join(dir, "old"), "lost": "no/new", "circle": "circle",
		"linked": "folder/deep", "folder/deep/up": "../old", "folder/deep/above": "../../link",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	return dir
}

// TestWriteNamed replaces files whole, where links lead to them too, and keeps links and modes.
// A failed write changes nothing.
func TestWriteNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, mode string }{
		{"new", "new", "-rw-------"},
		{"old", "old", "-rw-r-----"},
		{"./folder/../old", "old", "-rw-r-----"},
		{"read-only", "read-only", "-r--r--r--"},
		{"link", "old", "-rw-r-----"},
		{"long", "old", "-rw-r-----"},
		{"absolute", "old", "-rw-r-----"},
		{"dangling", "folder/new", "-rw-------"},
		{"linked/new", "folder/deep/new", "-rw-------"},
		{"linked/../old", "folder/old", "-rw----r--"},
		{"linked/up", "folder/old", "-rw----r--"},
		{"linked/above", "old", "-rw-r-----"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := namedScene(t)
			want := look(t, dir)
			failed := errors.New("no space")
			for _, before := range []string{"", "part"} {
				err := WriteNamed(t.Context(), dir+"/"+c.name, t.TempDir(), func(w io.Writer) error {
					_, err := io.WriteString(w, before)
					require.Equal(t, want[c.file], look(t, dir)[c.file], "the former one while it is written")
					return errors.Join(err, failed)
				})
				require.ErrorIs(t, err, failed)
				require.Equal(t, want, look(t, dir))
			}
			require.NoError(t, WriteNamed(t.Context(), dir+"/"+c.name, t.TempDir(), halves("the new text")))
			want[c.file] = c.mode + " the new text"
			require.Equal(t, want, look(t, dir))
		})
	}
}

// TestWriteNamedRefuses names what cannot be written, and makes nothing.
func TestWriteNamedRefuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		"no/new": fs.ErrNotExist, "lost": fs.ErrNotExist, "circle": syscall.ELOOP, "folder": syscall.EISDIR, "linked": syscall.EISDIR,
		"folder/": syscall.EISDIR, "none/": fs.ErrInvalid, "old/new": syscall.ENOTDIR, "folder/old": fs.ErrExist, "linked/up": fs.ErrExist,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := namedScene(t)
			was := look(t, dir)
			err := WriteNamed(t.Context(), dir+"/"+name, filepath.Join(dir, "folder"), func(io.Writer) error {
				t.Error("asked for its content")
				return nil
			})
			require.ErrorIs(t, err, want)
			require.Contains(t, err.Error(), name)
			require.Equal(t, was, look(t, dir))
		})
	}
}

// TestWriteNamedFIFO writes to a FIFO that stays one. The wait for its reader, and for one that
// reads no more, ends with the context.
func TestWriteNamedFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	read := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(name)
		read <- string(text)
	}()
	require.NoError(t, WriteNamed(t.Context(), name, dir, halves("straight")))
	require.Equal(t, "straight", <-read)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, WriteNamed(ctx, name, dir, halves("nobody reads")), context.Canceled)
	reader, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer reader.Close()
	ctx, cancel = context.WithCancel(t.Context())
	err = WriteNamed(ctx, name, dir, func(w io.Writer) error {
		_, err := w.Write([]byte("first"))
		require.NoError(t, err)
		cancel()
		_, err = w.Write(make([]byte, 1<<20)) // more than a FIFO holds
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, fs.ModeNamedPipe, left[0].Type())
}

// TestWriteNamedDevice writes to devices, which stay, and gets what they answer.
func TestWriteNamedDevice(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "null")
	require.NoError(t, os.Symlink(os.DevNull, link))
	require.NoError(t, WriteNamed(t.Context(), link, t.TempDir(), halves("gone")))
	if full, err := os.Stat("/dev/full"); err == nil {
		require.ErrorIs(t, WriteNamed(t.Context(), "/dev/full", t.TempDir(), halves("a full disk")), syscall.ENOSPC)
		is, err := os.Stat("/dev/full")
		require.NoError(t, err)
		require.True(t, os.SameFile(full, is))
	}
}

// TestWriteNamedStandardOutput writes between what the program itself writes, to a pipe and to the
// file that a shell would send it to.
func TestWriteNamedStandardOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, []string{"before", "the content", "after"}, testenv.Spawn(t, "standard output", dir, "").End(t))
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	require.NoError(t, err)
	require.Equal(t, "before\nthe content\nafter\n", string(text))
}

func writeStandardOutput(dir, _ string) error {
	write := func(name string) error {
		fmt.Println("before")
		err := WriteNamed(context.Background(), name, dir, halves("the content\n"))
		fmt.Println("after")
		return err
	}
	if err := write("/dev/stdout"); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		return err
	}
	os.Stdout = out
	return errors.Join(write(out.Name()), out.Close())
}

const nobody = 65534

// TestWriteNamedOwner keeps the owner of a file. Where that cannot be, or the folder takes no new
// file, WriteNamed changes nothing.
func TestWriteNamedOwner(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Geteuid() == 0, "root alone may give files away")
	dir, err := os.MkdirTemp("/tmp", "named-") // which everybody reaches
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "its"), 0o700))
	require.NoError(t, os.Chown(filepath.Join(dir, "its"), nobody, nobody))
	for name, owner := range map[string]int{"its/own": nobody, "its/roots": 0, "writable": nobody} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("former"), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o666))
		require.NoError(t, os.Chown(filepath.Join(dir, name), owner, owner))
	}
	was := look(t, dir)
	for _, name := range []string{"its/own", "its/roots", "writable"} {
		lines := testenv.Spawn(t, "unprivileged", dir, name).End(t)
		if name == "its/own" {
			was[name] = "-rw-rw-rw- of the user"
			require.Empty(t, lines)
		} else {
			require.Len(t, lines, 1)
			require.Contains(t, lines[0], "permi")
			require.Contains(t, lines[0], filepath.Join(dir, name))
		}
		require.Equal(t, was, look(t, dir))
	}
	require.NoError(t, WriteNamed(t.Context(), filepath.Join(dir, "its/own"), t.TempDir(), halves("of root")))
	fi, err := os.Stat(filepath.Join(dir, "its/own"))
	require.NoError(t, err)
	require.Equal(t, uint32(nobody), fi.Sys().(*syscall.Stat_t).Uid)
	require.Equal(t, uint32(nobody), fi.Sys().(*syscall.Stat_t).Gid)
}

func writeUnprivileged(dir, name string) error {
	if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	err := WriteNamed(context.Background(), filepath.Join(dir, name), os.TempDir()+"/none", halves("of the user"))
	if errors.Is(err, fs.ErrPermission) {
		fmt.Println(err)
		return nil
	}
	return err
}

// TestWriteNamedKills kills a program that writes: one text or the other stands there, whole.
func TestWriteNamedKills(t *testing.T) {
	t.Parallel()
	name, lost := filepath.Join(t.TempDir(), "report"), testenv.Lost(t)
	rng := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	require.NoError(t, os.WriteFile(name, []byte(strings.Repeat("a", 1<<16)), 0o600))
	for range testenv.KillRounds() {
		p := testenv.Spawn(t, "write forever", name, "")
		for range 1 + rng.IntN(9) { // it prints three lines a file
			_, ok := p.Line()
			require.True(t, ok)
		}
		p.Kill()
		text, err := os.ReadFile(name)
		require.NoError(lost, err)
		require.Equal(lost, strings.Repeat(string(text[:1]), 1<<16), string(text))
	}
}

func writeForever(name, _ string) error {
	for n := 0; ; n++ {
		err := WriteNamed(context.Background(), name, os.TempDir()+"/none", func(w io.Writer) error {
			for range 2 {
				fmt.Println("half of", n)
				if _, err := io.WriteString(w, strings.Repeat(string(rune('a'+n%26)), 1<<15)); err != nil {
					return err
				}
			}
			return nil
		})
		fmt.Println("written", n)
		if err != nil {
			return err
		}
	}
}
