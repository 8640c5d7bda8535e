package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func open(t *testing.T, hooks *seam.Seam) *sessionstore.Store {
	t.Helper()
	st, err := core.Open(filepath.Join(t.TempDir(), "p", "sessions"), &sessionstore.Options{Workspace: "/w"}, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// full makes a session with files of all kinds.
func full(t *testing.T, st *sessionstore.Store, id string) {
	t.Helper()
	m, err := sessionstore.Text("user", "hello", time.Unix(0, 0))
	require.NoError(t, err)
	md, err := sessionstore.NewMetadata(map[string]string{"session_id": id, "name": "n"})
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), id, []sessionstore.Message{m}, md))
	require.NoError(t, st.Append(t.Context(), id, m, m))
	dir := filepath.Join(st.Dir(), id)
	for name, text := range map[string]string{"events.jsonl": "{\"event\": \"x\"}\n", "a/b/c.txt": "", "odd name\n.json": "\xff"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// files returns the files of a session with their times.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if e.IsDir() {
			return nil
		}
		fi, err := e.Info()
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		all[name] = fmt.Sprint(fi.ModTime().UnixNano(), " ", string(text))
		return err
	}))
	return all
}

// sources returns the ways in which the session id can come.
func sources(t *testing.T, st *sessionstore.Store, id string) map[string]func(*sessionstore.Store, *ReadOptions) (Imported, error) {
	t.Helper()
	var plain, zipped bytes.Buffer
	require.NoError(t, Write(t.Context(), &plain, st, []string{id}, nil))
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(plain.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return map[string]func(*sessionstore.Store, *ReadOptions) (Imported, error){
		"directory": func(to *sessionstore.Store, o *ReadOptions) (Imported, error) {
			return ReadDir(t.Context(), filepath.Join(st.Dir(), id), to, o)
		},
		"tar": func(to *sessionstore.Store, o *ReadOptions) (Imported, error) {
			return readOne(t, plain.Bytes(), to, o)
		},
		"tar.gz": func(to *sessionstore.Store, o *ReadOptions) (Imported, error) {
			return readOne(t, zipped.Bytes(), to, o)
		},
	}
}

// readOne reads an archive of one session.
func readOne(t *testing.T, data []byte, st *sessionstore.Store, o *ReadOptions) (Imported, error) {
	t.Helper()
	all, err := Read(t.Context(), bytes.NewReader(data), st, o)
	if err != nil {
		require.Empty(t, all)
		return Imported{}, err
	}
	require.Len(t, all, 1)
	return all[0], nil
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from := open(t, nil)
	full(t, from, "an-id")
	want := files(t, filepath.Join(from.Dir(), "an-id"))
	for name, read := range sources(t, from, "an-id") {
		to := open(t, nil)
		res, err := read(to, nil)
		require.NoError(t, err, name)
		require.Equal(t, want, files(t, filepath.Join(to.Dir(), "an-id")), name)
		require.Equal(t, "an-id", res.ID)
		require.Equal(t, 3, res.Messages)
		require.Equal(t, len(want), res.Files)
		require.NoError(t, res.Damage)
		s, err := to.Load(t.Context(), "an-id")
		require.NoError(t, err)
		require.Nil(t, s.Recovered)
		require.NoError(t, to.Append(t.Context(), "an-id", s.Messages...))
	}
	for name, read := range sources(t, from, "an-id") {
		_, err := read(from, nil)
		require.ErrorIs(t, err, fs.ErrExist, name)
		require.Equal(t, want, files(t, filepath.Join(from.Dir(), "an-id")), "nothing is overwritten")
	}
	for name, read := range sources(t, from, "an-id") {
		res, err := read(from, &ReadOptions{ID: "copy by " + name, Name: "new name"})
		require.NoError(t, err, name)
		require.Equal(t, "an-id", res.Was)
		md, err := from.Metadata(t.Context(), res.ID)
		require.NoError(t, err)
		require.Equal(t, res.ID, md.Text("session_id"))
		require.Equal(t, "new name", md.Text("name"))
		got := files(t, filepath.Join(from.Dir(), res.ID))
		got["metadata.json"] = want["metadata.json"]
		require.Equal(t, want, got, "all else is what it was")
	}
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	st := open(t, nil)
	const rows = "{\"role\":  \"user\", \"content\": \"\\u00e9\", \"timestamp\": \"2026-03-01T10:00:00Z\"}\n{\"content\": 1.50, \"role\": \"system\"}\n"
	res, err := readOne(t, []byte("\n"+strings.ReplaceAll(strings.TrimSuffix(rows, "\n"), "\n", "\r\n\r\n")), st, nil)
	require.NoError(t, err)
	require.Equal(t, 2, res.Messages)
	require.Empty(t, res.Was)
	text, err := os.ReadFile(filepath.Join(st.Dir(), res.ID, "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, rows, string(text))
	for _, marked := range []string{mark + rows, mark + "\r\n" + rows, "\n" + mark + rows, strings.Replace(rows, "\n", "\n"+mark, 1)} { // also of two files, the one behind the other
		res, err := readOne(t, []byte(marked), st, &ReadOptions{ID: sessionstore.NewID()})
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(st.Dir(), res.ID, "transcript.jsonl"))
		require.NoError(t, err)
		require.Equal(t, rows, string(text))
	}
	_, err = readOne(t, []byte("\xef\xbb"+rows), st, nil)
	require.ErrorIs(t, err, ErrFormat)
	md, err := st.Metadata(t.Context(), res.ID)
	require.NoError(t, err)
	require.Equal(t, "{\n  \"session_id\": \""+res.ID+"\",\n  \"created\": \"2026-03-01T10:00:00.000000+00:00\",\n  \"bundle\": \"unknown\",\n  \"model\": \"unknown\",\n  \"turn_count\": 1,\n  \"working_dir\": \"/w\"\n}", string(md.AppendTo(nil)))
}

// tarOf returns an archive of names, each file with its name as its content.
func tarOf(t *testing.T, kind byte, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range names {
		h := &tar.Header{Typeflag: kind, Name: name, Mode: 0o600, Linkname: "x"}
		if kind == tar.TypeReg {
			h.Linkname, h.Size = "", int64(len(name))
		}
		require.NoError(t, w.WriteHeader(h))
		if kind == tar.TypeReg {
			_, err := w.Write([]byte(name))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestRefused(t *testing.T) {
	t.Parallel()
	st := open(t, nil)
	whole := tarOf(t, tar.TypeReg, "s/metadata.json", "s/transcript.jsonl")
	tests := []struct {
		name string
		data []byte
		text string
		is   error
	}{
		{"nothing of a session", tarOf(t, tar.TypeReg, "s/events.jsonl"), ErrNoSession.Error(), ErrNoSession},
		{"two sessions", tarOf(t, tar.TypeReg, "s/metadata.json", "t/metadata.json"), "more than one session", nil},
		{"twice", tarOf(t, tar.TypeReg, "s/metadata.json", "s/metadata.json"), "twice", ErrTwice},
		{"upwards", tarOf(t, tar.TypeReg, "s/metadata.json", "s/../../x"), "not a path inside", ErrPath},
		{"upwards at once", tarOf(t, tar.TypeReg, "../metadata.json"), "Invalid session_id", sessionstore.ErrInvalidID},
		{"absolute", tarOf(t, tar.TypeReg, "/metadata.json"), "in no directory", ErrPath},
		{"backslash", tarOf(t, tar.TypeReg, "s/metadata.json", `s/a\..\..\x`), "not a path inside", ErrPath},
		{"no directory", tarOf(t, tar.TypeReg, "metadata.json"), "in no directory", ErrPath},
		{"a file that is a directory", tarOf(t, tar.TypeReg, "s/metadata.json", "s/metadata.json/x"), "metadata.json", nil},
		{"a symlink", tarOf(t, tar.TypeSymlink, "s/metadata.json"), "no regular file", ErrNotRegular},
		{"a link", tarOf(t, tar.TypeLink, "s/metadata.json"), "no regular file", ErrNotRegular},
		{"a device", tarOf(t, tar.TypeChar, "s/metadata.json"), "no regular file", ErrNotRegular},
		{"reserved", tarOf(t, tar.TypeReg, ".trash/metadata.json"), "reserved", sessionstore.ErrInvalidID},
		{"cut off", whole[:700], "cut off", ErrTruncated},
		{"cut off in a file", whole[:520], "unexpected EOF", nil},
		{"cut off behind a file", whole[:1024], "cut off", ErrTruncated},
		{"cut off in its end", whole[:len(whole)-512], "cut off", ErrTruncated},
		{"lines with another value", []byte("{\"role\": \"user\"}\n5\n"), "line 2", ErrNoMessage},
		{"torn lines", []byte("{\"role\": \"user\"}\n\n{\"role\": \"us"), "line 3", ErrNoMessage},
		{"events", []byte("{\"role\": \"user\"}\n{\"event\": \"x\"}\n"), `line 2: it has no "role"`, ErrNoMessage},
		{"an odd role", []byte("\n \n{\"role\": 5}\n"), `line 3: its "role" is no text`, ErrNoMessage},
		{"a wide object", []byte("{\n  \"role\": \"user\"\n}\n"), "line 1", ErrNoMessage},
		{"deep", tarOf(t, tar.TypeReg, "s/metadata.json", "s/"+strings.Repeat("a/", 65)+"x"), "not a path inside", ErrPath},
		{"behind its end", append(bytes.Clone(whole), make([]byte, 2<<20)...), "goes on", nil},
		{"not lines", []byte("hello"), ErrFormat.Error(), ErrFormat},
		{"an empty gzip", []byte{0x1f, 0x8b}, "read archive", nil},
	}
	for _, tt := range tests {
		_, err := readOne(t, tt.data, st, &ReadOptions{MaxSessions: 1})
		require.ErrorContains(t, err, tt.text, tt.name)
		if tt.is != nil {
			require.ErrorIs(t, err, tt.is, tt.name)
		}
	}
	_, err := ReadDir(t.Context(), filepath.Join(st.Dir(), "none"), st, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	if runtime.GOOS != "windows" {
		linked := t.TempDir()
		require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(linked, "metadata.json")))
		_, err = ReadDir(t.Context(), linked, st, nil)
		require.ErrorContains(t, err, `"metadata.json" is no regular file`)
	}
	infos, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.Empty(t, infos, "nothing is left")
	up, err := filepath.Glob(filepath.Join(filepath.Dir(st.Dir()), "*"))
	require.NoError(t, err)
	require.Equal(t, []string{st.Dir()}, up, "nothing is outside")
}

func TestDamagedComesAsItIs(t *testing.T) {
	t.Parallel()
	from, to := open(t, nil), open(t, nil)
	full(t, from, "s")
	path := filepath.Join(from.Dir(), "s")
	require.NoError(t, os.WriteFile(filepath.Join(path, "transcript.jsonl"), []byte("{torn"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(path, "transcript.jsonl.backup")))
	require.NoError(t, os.WriteFile(filepath.Join(path, "metadata.json"), []byte("{torn"), 0o600))
	res, err := ReadDir(t.Context(), path, to, &ReadOptions{ID: "t"})
	require.NoError(t, err)
	require.ErrorIs(t, res.Damage, sessionstore.ErrCorrupt)
	require.Equal(t, files(t, path), files(t, filepath.Join(to.Dir(), "t")))
}

// TestFaults lets each operation fail in turn: the session is there, whole, or
// not at all.
func TestFaults(t *testing.T) {
	t.Parallel()
	from := open(t, nil)
	full(t, from, "s")
	want := files(t, filepath.Join(from.Dir(), "s"))
	points := 0
	for at := 0; ; at++ {
		f := &crashsim.Failer{At: at, Err: syscall.ENOSPC, Part: 50, Stays: at%2 == 0}
		armed := false
		to := open(t, &seam.Seam{Before: func(op seam.Op) error {
			if !armed {
				return nil
			}
			return f.Before(op)
		}})
		armed = true
		_, err := ReadDir(t.Context(), filepath.Join(from.Dir(), "s"), to, nil)
		if to.Exists("s") {
			require.Equal(t, want, files(t, filepath.Join(to.Dir(), "s")), at)
		} else {
			require.Error(t, err, at)
		}
		if _, failed := f.Failed(); !failed {
			require.NoError(t, err)
			break
		}
		points++
	}
	require.Greater(t, points, 20)
}
