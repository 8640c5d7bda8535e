package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// packed returns an archive of sessions.
func packed(t *testing.T, st *sessionstore.Store, ids ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), &out, st, ids, nil))
	return out.Bytes()
}

func idsOf(all []Imported) (ids []string) {
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestManySessions(t *testing.T) {
	t.Parallel()
	from, to := open(t, nil), open(t, nil)
	for _, id := range []string{"a", "b", "c"} {
		full(t, from, id)
	}
	data := packed(t, from, "b", "a", "b", "c")
	all, err := Read(t.Context(), bytes.NewReader(data), to, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a", "c"}, idsOf(all))
	for _, s := range all {
		require.Equal(t, s.ID, s.Was)
		require.Equal(t, 3, s.Messages)
		require.Equal(t, files(t, filepath.Join(from.Dir(), s.ID)), files(t, filepath.Join(to.Dir(), s.ID)))
	}
	require.NoError(t, to.Delete(t.Context(), "b"))
	all, err = Read(t.Context(), bytes.NewReader(data), to, nil)
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, `"a"`)
	require.Equal(t, []string{"b"}, idsOf(all), "those before it are made")
}

func TestOneSession(t *testing.T) {
	t.Parallel()
	st := open(t, nil)
	full(t, st, "a")
	full(t, st, "b")
	for _, f := range []Format{JSONL, Markdown, HTML} {
		for _, ids := range [][]string{nil, {"a", "b"}} {
			require.ErrorIs(t, Write(t.Context(), io.Discard, st, ids, &WriteOptions{Format: f}), ErrOneSession, f)
		}
	}
	require.Error(t, Write(t.Context(), io.Discard, st, []string{"a"}, &WriteOptions{Format: "pdf"}))
	for _, o := range []*ReadOptions{{ID: "x"}, {Name: "x"}, {MaxSessions: 1}} {
		to := open(t, nil)
		all, err := Read(t.Context(), bytes.NewReader(packed(t, st, "a", "b")), to, o)
		require.ErrorIs(t, err, ErrLimit)
		require.Empty(t, all)
		require.Empty(t, listed(t, to))
	}
}

func listed(t *testing.T, st *sessionstore.Store) []sessionstore.Info {
	t.Helper()
	all, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	return all
}

func TestSessionsThatMix(t *testing.T) {
	t.Parallel()
	st := open(t, nil)
	all, err := Read(t.Context(), bytes.NewReader(tarOf(t, tar.TypeReg, "a/metadata.json", "b/metadata.json", "a/transcript.jsonl")), st, nil)
	require.ErrorIs(t, err, ErrTwice)
	require.Equal(t, []string{"a"}, idsOf(all))
	require.Len(t, listed(t, st), 1)
	all, err = Read(t.Context(), bytes.NewReader(tarOf(t, tar.TypeReg)), st, nil)
	require.ErrorIs(t, err, ErrFormat, "nothing but zeros")
	require.Empty(t, all)
	all, err = Read(t.Context(), bytes.NewReader(tarOf(t, tar.TypeReg, "a/.hidden")), st, nil)
	require.ErrorIs(t, err, ErrNoSession)
	require.Empty(t, all)
}

func TestRedactorsThatBreakLines(t *testing.T) {
	t.Parallel()
	st := store(t)
	write(t, st, "s", time.Now(), map[string]string{"transcript.jsonl": "{\"role\": \"user\"}\n", "metadata.json": "{}"})
	for _, f := range []Format{Tar, JSONL, Markdown, HTML} {
		name := filepath.Join(t.TempDir(), "out")
		err := WriteFile(t.Context(), name, st, []string{"s"}, &WriteOptions{Format: f, Redact: splitting{}})
		require.ErrorIs(t, err, ErrRedacted, f)
		require.NoFileExists(t, name)
	}
}

type splitting struct{}

func (splitting) Line([]byte) []byte { return []byte("{}\n{}") }

func TestWriteFile(t *testing.T) {
	t.Parallel()
	st := store(t)
	write(t, st, "s", time.Now(), map[string]string{"transcript.jsonl": "{\"role\": \"user\"}\n{torn", "metadata.json": "{}"})
	dir := t.TempDir()
	name := filepath.Join(dir, "s.jsonl")
	require.ErrorIs(t, WriteFile(t.Context(), name, st, []string{"s"}, &WriteOptions{Format: JSONL}), sessionstore.ErrCorrupt)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "{\"role\": \"user\"}\n", string(text), "what could be read")
	require.ErrorIs(t, WriteFile(t.Context(), name, st, []string{"none"}, nil), sessionstore.ErrNotFound)
	require.FileExists(t, name, "a failed export takes no file away")
	require.ErrorIs(t, WriteFile(t.Context(), name, st, []string{"s"}, &WriteOptions{Format: Markdown}), sessionstore.ErrCorrupt)
	again, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, text, again, "a part takes the place of no whole export")
	write(t, st, "whole", time.Now(), map[string]string{"transcript.jsonl": "{\"role\": \"user\"}\n", "metadata.json": "{}"})
	require.NoError(t, WriteFile(t.Context(), name, st, []string{"whole"}, &WriteOptions{Format: Markdown}))
	again, err = os.ReadFile(name)
	require.NoError(t, err)
	require.Contains(t, string(again), "## Turn 1", "in the place of the file that was there")
	transcript := filepath.Join(st.Dir(), "s", "transcript.jsonl")
	require.ErrorIs(t, WriteFile(t.Context(), transcript, st, []string{"s"}, nil), fs.ErrExist)
	require.ErrorIs(t, WriteFile(t.Context(), filepath.Join(dir, "none"), st, []string{"none"}, nil), sessionstore.ErrNotFound)
	require.ErrorIs(t, WriteFile(t.Context(), filepath.Join(dir, "no", "dir"), st, []string{"s"}, nil), fs.ErrNotExist)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing half is left")
}

// TestFaultsOfArchives lets each operation of reading an archive of two
// sessions and of lines fail: each session is there whole, or not at all.
func TestFaultsOfArchives(t *testing.T) {
	t.Parallel()
	from := open(t, nil)
	full(t, from, "a")
	full(t, from, "b")
	rows := strings.Repeat("{\"role\": \"user\"}\n", 3)
	step, rng := testenv.Share(7, 5, 1), testenv.Rand(t)
	for name, data := range map[string][]byte{"tar": packed(t, from, "a", "b"), "lines": []byte(rows)} {
		points := 0
		for at := rng.IntN(step); ; at += step {
			f := &crashsim.Failer{At: at, Err: syscall.ENOSPC, Part: 50, Stays: points%2 == 0}
			armed := false
			to := open(t, &seam.Seam{Before: func(op seam.Op) error {
				if !armed {
					return nil
				}
				return f.Before(op)
			}})
			armed = true
			_, err := Read(t.Context(), bytes.NewReader(data), to, nil)
			armed = false
			when := fmt.Sprint(name, " ", at)
			for _, s := range listed(t, to) {
				got := files(t, filepath.Join(to.Dir(), s.ID))
				if name == "lines" {
					require.Len(t, got, 2, when)
					require.Contains(t, got["transcript.jsonl"], rows, when)
					continue
				}
				require.Equal(t, files(t, filepath.Join(from.Dir(), s.ID)), got, when)
			}
			if _, failed := f.Failed(); !failed {
				require.NoError(t, err)
				break
			}
			points++
		}
		require.Positive(t, points, name)
	}
}

// TestWriteEnds writes no more than a buffer, and asks for no more redaction, after its context
// ended: in the midst of what is written, and before anything is.
func TestWriteEnds(t *testing.T) {
	t.Parallel()
	st := store(t)
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, `{"role": "user", "content": "question %d"}`+"\n"+`{"role": "assistant", "content": "%s"}`+"\n", i, strings.Repeat("an answer ", 100))
	}
	write(t, st, "s", time.Now(), map[string]string{"transcript.jsonl": text.String(), "metadata.json": "{}"})
	for _, f := range []Format{Tar, JSONL, Markdown, HTML} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &interrupting{cancel: cancel}
		require.ErrorIs(t, Write(ctx, out, st, []string{"s"}, &WriteOptions{Format: f}), context.Canceled, f)
		require.True(t, out.begun, f)
		require.Less(t, out.after, 1<<16, f)

		ctx, cancel = context.WithCancel(t.Context())
		redacting := &interrupting{cancel: cancel}
		name := filepath.Join(t.TempDir(), "out")
		require.NoError(t, os.WriteFile(name, []byte("former"), 0o600))
		require.ErrorIs(t, WriteFile(ctx, name, st, []string{"s"}, &WriteOptions{Format: f, Redact: redacting}), context.Canceled, f)
		require.Less(t, redacting.after, 1<<17, f)
		left, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "former", string(left), f)
	}
}

// interrupting ends a context with the first bytes that come to it, and counts those after them.
type interrupting struct {
	cancel func()
	begun  bool
	after  int
}

func (e *interrupting) Write(b []byte) (int, error) {
	if e.begun {
		e.after += len(b)
	}
	e.begun = true
	e.cancel()
	return len(b), nil
}

func (e *interrupting) Line(line []byte) []byte {
	_, _ = e.Write(line)
	return line
}
