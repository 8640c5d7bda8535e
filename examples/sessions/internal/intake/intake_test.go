package intake

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

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/export"
	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) { testenv.Main(m, map[string]testenv.Child{"take": takeForever}) }

func open(t *testing.T, seam *fault.Seam) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Inside{}.Open(filepath.Join(t.TempDir(), "p", "sessions"), &sessionstore.Options{Workspace: "/w"}, seam)
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
func sources(t *testing.T, st *sessionstore.Store, id string) map[string]Source {
	t.Helper()
	var plain, zipped bytes.Buffer
	require.NoError(t, export.Archive(t.Context(), st, id, &plain, nil))
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(plain.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	a, err := Stream(&plain)
	require.NoError(t, err)
	b, err := Stream(&zipped)
	require.NoError(t, err)
	return map[string]Source{"directory": Directory(filepath.Join(st.Dir(), id)), "tar": a, "tar.gz": b}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from := open(t, nil)
	full(t, from, "an id")
	want := files(t, filepath.Join(from.Dir(), "an id"))
	for name, src := range sources(t, from, "an id") {
		to := open(t, nil)
		res, err := Take(t.Context(), to, src, Options{})
		require.NoError(t, err, name)
		require.Equal(t, want, files(t, filepath.Join(to.Dir(), "an id")), name)
		require.Equal(t, "an id", res.ID)
		require.Equal(t, 3, res.Messages)
		require.Equal(t, len(want), res.Files)
		require.NoError(t, res.Damage)
		s, err := to.Load(t.Context(), "an id")
		require.NoError(t, err)
		require.Nil(t, s.Recovered)
		require.NoError(t, to.Append(t.Context(), "an id", s.Messages...))
	}
	for name, src := range sources(t, from, "an id") {
		_, err := Take(t.Context(), from, src, Options{})
		require.ErrorIs(t, err, fs.ErrExist, name)
		require.Equal(t, want, files(t, filepath.Join(from.Dir(), "an id")), "nothing is overwritten")
	}
	for name, src := range sources(t, from, "an id") {
		res, err := Take(t.Context(), from, src, Options{ID: "copy by " + name, Name: "new name"})
		require.NoError(t, err, name)
		require.Equal(t, "an id", res.Was)
		md, err := from.Metadata(t.Context(), res.ID)
		require.NoError(t, err)
		require.Equal(t, res.ID, md.Text("session_id"))
		require.Equal(t, "new name", md.Text("name"))
		got := files(t, filepath.Join(from.Dir(), res.ID))
		got["metadata.json"] = want["metadata.json"]
		require.Equal(t, want, got, "all else is what it was")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	st := open(t, nil)
	const rows = "{\"role\":  \"user\", \"content\": \"\\u00e9\", \"timestamp\": \"2026-03-01T10:00:00Z\"}\n{\"content\": 1.50, \"role\": \"system\"}\n"
	src, err := Stream(strings.NewReader("\n" + strings.ReplaceAll(strings.TrimSuffix(rows, "\n"), "\n", "\r\n\r\n")))
	require.NoError(t, err)
	res, err := Take(t.Context(), st, src, Options{})
	require.NoError(t, err)
	require.Equal(t, 2, res.Messages)
	require.Empty(t, res.Was)
	text, err := os.ReadFile(filepath.Join(st.Dir(), res.ID, "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, rows, string(text))
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
	}{
		{"nothing of a session", tarOf(t, tar.TypeReg, "s/events.jsonl"), ErrNoSession.Error()},
		{"two sessions", tarOf(t, tar.TypeReg, "s/metadata.json", "t/metadata.json"), "more than one directory"},
		{"twice", tarOf(t, tar.TypeReg, "s/metadata.json", "s/metadata.json"), "twice"},
		{"upwards", tarOf(t, tar.TypeReg, "s/metadata.json", "s/../../x"), "not a path inside"},
		{"upwards at once", tarOf(t, tar.TypeReg, "../metadata.json"), "Invalid session_id"},
		{"absolute", tarOf(t, tar.TypeReg, "/metadata.json"), "in no directory"},
		{"backslash", tarOf(t, tar.TypeReg, "s/metadata.json", `s/a\..\..\x`), "not a path inside"},
		{"no directory", tarOf(t, tar.TypeReg, "metadata.json"), "in no directory"},
		{"a file that is a directory", tarOf(t, tar.TypeReg, "s/metadata.json", "s/metadata.json/x"), "metadata.json"},
		{"a symlink", tarOf(t, tar.TypeSymlink, "s/metadata.json"), "no regular file"},
		{"a link", tarOf(t, tar.TypeLink, "s/metadata.json"), "no regular file"},
		{"a device", tarOf(t, tar.TypeChar, "s/metadata.json"), "no regular file"},
		{"reserved", tarOf(t, tar.TypeReg, ".trash/metadata.json"), "reserved"},
		{"cut off", whole[:700], "cut off"},
		{"cut off in a file", whole[:520], "unexpected EOF"},
		{"cut off behind a file", whole[:1024], "cut off"},
		{"cut off in its end", whole[:len(whole)-512], "cut off"},
		{"lines with another value", []byte("{\"role\": \"user\"}\n5\n"), "line 2"},
		{"torn lines", []byte("{\"role\": \"user\"}\n\n{\"role\": \"us"), "line 3"},
		{"not lines", []byte("hello"), ErrUnknown.Error()},
		{"an empty gzip", []byte{0x1f, 0x8b}, "read archive"},
	}
	for _, tt := range tests {
		src, err := Stream(bytes.NewReader(tt.data))
		if err == nil {
			_, err = Take(t.Context(), st, src, Options{})
		}
		require.ErrorContains(t, err, tt.text, tt.name)
	}
	_, err := Take(t.Context(), st, Directory(filepath.Join(st.Dir(), "none")), Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	if runtime.GOOS != "windows" {
		linked := t.TempDir()
		require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(linked, "metadata.json")))
		_, err = Take(t.Context(), st, Directory(linked), Options{})
		require.ErrorContains(t, err, "metadata.json is no regular file")
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
	res, err := Take(t.Context(), to, Directory(path), Options{ID: "t"})
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
		f := &fault.Failer{At: at, Err: syscall.ENOSPC, Part: 50, Stays: at%2 == 0}
		armed := false
		to := open(t, &fault.Seam{Before: func(op fault.Op) error {
			if !armed {
				return nil
			}
			return f.Before(op)
		}})
		armed = true
		_, err := Take(t.Context(), to, Directory(filepath.Join(from.Dir(), "s")), Options{})
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
