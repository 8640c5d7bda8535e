package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// faultCall is a call that changes the session "s", or the new one "n".
type faultCall struct {
	name string
	do   func(ctx context.Context, st *Store) error
}

func faultCalls() []faultCall {
	saving := func(id string, lines ...string) func(context.Context, *Store) error {
		return func(ctx context.Context, st *Store) error {
			return st.Save(ctx, id, faultRows(lines...), faultMetadata(2))
		}
	}
	return []faultCall{
		{"extend", saving("s", "1", "2", "3")},
		{"rewrite", saving("s", "other")},
		{"save new session", saving("n", "1")},
		{"save damaged session", saving("d", "1", "2")},
		{"create", func(ctx context.Context, st *Store) error { return st.Create(ctx, "n", faultMetadata(2)) }},
		{"update metadata", func(ctx context.Context, st *Store) error {
			_, err := st.UpdateMetadata(ctx, "s", func(md *Metadata) error { return md.Set("n", 2) })
			return err
		}},
		{"save config", func(ctx context.Context, st *Store) error { return st.SaveConfig(ctx, "s", faultMetadata(2)) }},
		{"delete", func(ctx context.Context, st *Store) error { return st.Delete(ctx, "s") }},
	}
}

func faultRows(texts ...string) []Message {
	rows := make([]Message, len(texts))
	for i, text := range texts {
		rows[i] = newMessage([]byte(`{"role": "user", "content": "` + text + `"}`))
	}
	return rows
}

func faultMetadata(n int) Metadata {
	return membersOf(fmt.Appendf(nil, `{"created": "then", "working_dir": "/nowhere", "n": %d}`, n))
}

// faultStore makes what the calls work on, once.
func faultStore(t *testing.T) fs.FS {
	t.Helper()
	dir := testenv.Scratch(t)
	st, err := Open(dir, &Options{Durability: Relaxed})
	require.NoError(t, err)
	ctx := t.Context()
	for _, rows := range [][]Message{faultRows("1"), faultRows("1", "2")} {
		require.NoError(t, st.Save(ctx, "s", rows, faultMetadata(1)))
		require.NoError(t, st.Save(ctx, "d", rows, faultMetadata(1)))
	}
	require.NoError(t, st.SaveConfig(ctx, "s", faultMetadata(1)))
	require.NoError(t, st.Close())
	damaged := filepath.Join(dir, "d", sessiondir.Transcript)
	require.NoError(t, os.WriteFile(damaged, []byte(`{"role": "user", "content": "1"}`+"\n\x00\x00"), 0o600))
	return os.DirFS(dir)
}

// faultFiles returns the content of the files below dir by their path, but
// for what the library keeps for itself.
func faultFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case filepath.Dir(path) == dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return files
}

// under runs call on a copy of store through seam and returns its files before.
func under(t *testing.T, store fs.FS, call faultCall, hooks *seam.Seam) (dir string, before map[string]string, err error) {
	t.Helper()
	dir = testenv.Scratch(t)
	require.NoError(t, os.CopyFS(dir, store))
	before = faultFiles(t, dir)
	st, oerr := open(dir, nil, hooks)
	require.NoError(t, oerr)
	err = call.do(t.Context(), st)
	require.NoError(t, st.Close())
	return dir, before, err
}

// mainFiles are the files that readers take for the truth.
var mainFiles = []string{sessiondir.Transcript, sessiondir.Metadata, sessiondir.Config}

// checkOldOrNew requires that each file of each session is one of both, and
// that everything can be loaded.
func checkOldOrNew(t *testing.T, dir string, before, after map[string]string) {
	t.Helper()
	now := faultFiles(t, dir)
	for _, id := range []string{"s", "n", "d"} {
		for _, name := range mainFiles {
			path := id + "/" + name
			got, ok := now[path]
			old, wasThere := before[path]
			wanted, isThere := after[path]
			switch {
			case ok && (wasThere && got == old || isThere && got == wanted):
			case !ok && (!wasThere || !isThere || path == "d/"+sessiondir.Transcript): // put aside while its backup stands in
			default:
				t.Errorf("%s is neither old nor new: %q", path, got)
			}
		}
	}
	st, err := Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	infos, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	for _, info := range infos {
		s, err := st.Load(t.Context(), info.ID)
		require.NoError(t, err)
		if info.ID != "n" {
			require.NotEmpty(t, s.Messages)
		}
	}
	all := strings.Join(slices.Collect(maps.Values(now)), "")
	require.Contains(t, all, "\x00\x00", "damaged bytes stay")
}

// TestEveryOperationFails lets every operation on the disk fail in turn, on a
// disk that is full, or cannot be written from then on, or fails just once. Without
// [testenv.Long] it is every second operation.
func TestEveryOperationFails(t *testing.T) {
	t.Parallel()
	faults := []crashsim.Failer{
		{Err: syscall.ENOSPC, Stays: true, Part: 50},
		{Err: syscall.EROFS, Stays: true},
		{Err: syscall.EACCES},
	}
	step := testenv.Share(4, 4, 1)
	for _, call := range faultCalls() {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			store := faultStore(t)
			first := testenv.Rand(t).IntN(step)
			dir, before, err := under(t, store, call, nil)
			require.NoError(t, err)
			after := faultFiles(t, dir)
			require.NotEqual(t, before, after)
			for i := range faults {
				f := &faults[i]
				for at := first; ; at += step {
					failer := &crashsim.Failer{At: at, Err: f.Err, Stays: f.Stays, Part: f.Part}
					dir, before, err := under(t, store, call, &seam.Seam{Before: failer.Before})
					op, failed := failer.Failed()
					if !failed {
						require.NoError(t, err)
						break
					}
					t.Logf("%v at %v %s: %v", f.Err, op.Kind, op.Name, err)
					checkFailure(t, dir, f, err, before, after)
					retry(t, call, dir, after)
				}
			}
		})
	}
}

func checkFailure(t *testing.T, dir string, f *crashsim.Failer, err error, before, after map[string]string) {
	t.Helper()
	if err != nil {
		require.ErrorIs(t, err, f.Err)
		require.Contains(t, err.Error(), "sessionstore: ")
	}
	if f.Stays && f.Err == syscall.ENOSPC { // what is temporary could be removed
		for name := range faultFiles(t, dir) {
			require.False(t, strings.HasPrefix(filepath.Base(name), "."), "left behind: %s", name)
		}
	}
	if err == nil {
		now := faultFiles(t, dir)
		for _, name := range mainFiles {
			for _, id := range []string{"s/", "n/", "d/"} {
				require.Equal(t, after[id+name], now[id+name], id+name)
			}
		}
		return
	}
	checkOldOrNew(t, dir, before, after)
}

// retry does the call again, on a disk that is well. It must then succeed.
func retry(t *testing.T, call faultCall, dir string, after map[string]string) {
	t.Helper()
	st, err := Open(dir, &Options{Durability: Relaxed})
	require.NoError(t, err)
	err = call.do(t.Context(), st)
	require.NoError(t, st.Close())
	switch {
	case call.name == "delete" && errors.Is(err, ErrNotFound):
	case call.name == "create" && errors.Is(err, fs.ErrExist):
		require.Contains(t, faultFiles(t, dir), "n/"+sessiondir.Metadata, "half a session was left that cannot be created anew")
	default:
		require.NoError(t, err)
	}
	now := faultFiles(t, dir)
	for name, want := range after {
		if slices.Contains(mainFiles, filepath.Base(name)) {
			require.Equal(t, want, now[name], name)
		}
	}
}

// TestCancelledAtEveryOperation cancels the context before each operation on
// the disk. Once the first name has changed, the result stands.
func TestCancelledAtEveryOperation(t *testing.T) {
	t.Parallel()
	for _, call := range faultCalls() {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			store := faultStore(t)
			dir, _, err := under(t, store, call, nil)
			require.NoError(t, err)
			after := faultFiles(t, dir)
			for at := 0; ; at++ {
				n, renamed := 0, false
				ctx, cancel := context.WithCancel(t.Context())
				hooks := &seam.Seam{Before: func(op seam.Op) error {
					if n == at {
						cancel()
					}
					if n < at {
						renamed = renamed || op.Kind == seam.Rename || op.Kind == seam.Exchange
					}
					n++
					return nil
				}}
				bound := faultCall{call.name, func(_ context.Context, st *Store) error { return call.do(ctx, st) }}
				dir, before, err := under(t, store, bound, hooks)
				cancel()
				if n <= at {
					require.NoError(t, err)
					break
				}
				if renamed {
					require.NoError(t, err, "the names had changed")
				}
				if err == nil {
					requireMain(t, after, faultFiles(t, dir))
				} else {
					require.ErrorIs(t, err, context.Canceled)
					requireMain(t, before, faultFiles(t, dir))
				}
			}
		})
	}
}

func requireMain(t *testing.T, want, got map[string]string) {
	t.Helper()
	for _, files := range []map[string]string{want, got} {
		for name := range files {
			if slices.Contains(mainFiles, filepath.Base(name)) {
				require.Equal(t, want[name], got[name], name)
			}
		}
	}
}
