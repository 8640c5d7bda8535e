package sessionstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// indexedStore returns a store with a session s that has an index, and the path
// of its rows file.
func indexedStore(t *testing.T, d Durability) (st *Store, g *cost.Gauge, rows string) {
	t.Helper()
	dir := t.TempDir()
	g = &cost.Gauge{}
	st, err := open(dir, &Options{Durability: d}, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Save(t.Context(), "s", rowsOf(100, 40_000, "row"), Metadata{}))
	if !st.base.IsLocal() {
		t.Skip("times are not relied on here")
	}
	unhurried()
	lastTurn(t, dir)
	return st, g, filepath.Join(dir, sessiondir.Bookkeeping, indexDir, index.RowsName("s"))
}

// lastTurn returns the last message that another store reads by the index.
func lastTurn(t *testing.T, dir string) string {
	t.Helper()
	st, err := Open(dir, nil)
	require.NoError(t, err)
	rows, err := LastTurnsOf(st, t.Context(), "s", 1)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	return string(rows[len(rows)-1].m.raw)
}

// opened opens the transcript of session s as a reader does that trusts the index,
// and reports whether it knew its beginning without hashing all of it.
func opened(t *testing.T, dir string) (messages int, known bool) {
	t.Helper()
	st, err := Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	in, err := st.openDir("s")
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	at, err := in.Stat(sessiondir.Transcript)
	require.NoError(t, err)
	x := st.index().Rows("s")
	known = x != nil && (x.Fits(at) || x.Begins(at))
	o, err := st.openIndexed(t.Context(), in, "s")
	require.NoError(t, err)
	require.NoError(t, o.file.Close())
	return o.rows.Messages, known
}

// TestIndexOfOwnAppends appends to a large session: a new process knows at once
// that the transcript begins as the index says.
func TestIndexOfOwnAppends(t *testing.T) {
	t.Parallel()
	for _, d := range []Durability{Durable, Relaxed} {
		st, g, path := indexedStore(t, d)
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := range 30 {
			g.Reset()
			size := 100 << (n % 11) // some of them have the index written
			require.NoError(t, st.Append(t.Context(), "s", row(size, "more", n)))
			messages, known := opened(t, st.Dir())
			require.True(t, known)
			require.Equal(t, 101+n, messages)
			require.Equal(t, string(row(size, "more", n).m.raw), lastTurn(t, st.Dir()))
			if d == Relaxed {
				require.Zero(t, g.Total().Syncs)
			}
		}
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotEqual(t, before, after)

		// A session that is saved anew, or that another tool appends to, is another one.
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		s.Messages[0] = row(40_000, "another first")
		require.NoError(t, st.Save(t.Context(), "s", s.Messages, s.Metadata))
		_, known := opened(t, st.Dir())
		require.False(t, known)
		unhurried()
		lastTurn(t, st.Dir())
		f, err := os.OpenFile(filepath.Join(st.Dir(), "s", sessiondir.Transcript), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(string(row(10, "foreign").m.raw) + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		messages, known := opened(t, st.Dir())
		require.False(t, known)
		require.Equal(t, 131, messages)
		require.NoError(t, st.Append(t.Context(), "s", row(10, "after")))
		require.Equal(t, string(row(10, "after").m.raw), lastTurn(t, st.Dir()))
	}
}

// TestIndexInTheWay has something in the place of the rows file: appends do not
// fail because of it.
func TestIndexInTheWay(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"symlink":   func(path string) error { return os.Symlink("/nowhere/at/all", path) },
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"nonsense": func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("sessionstore rows"), 99), 0o600)
		},
		"read-only": func(path string) error { return os.WriteFile(path, nil, 0o400) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, _, path := indexedStore(t, Relaxed)
			require.NoError(t, os.Remove(path))
			require.NoError(t, put(path))
			for n := range 3 {
				require.NoError(t, st.Append(t.Context(), "s", row(10, "more", n)))
				require.Equal(t, string(row(10, "more", n).m.raw), lastTurn(t, st.Dir()))
			}
		})
	}
}

// TestIndexOfAppendsAtOnce lets two stores, which stand for processes, append
// while two others read by the index: each answer is one that a reader of the
// whole transcript may find.
func TestIndexOfAppendsAtOnce(t *testing.T) {
	t.Parallel()
	st, _, _ := indexedStore(t, Relaxed)
	const each = 40
	var writers, readers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for k := range 2 {
		w, err := Open(st.Dir(), &Options{Durability: Relaxed})
		require.NoError(t, err)
		writers.Go(func() {
			for n := range each {
				m := row(50<<(n%10), "writer", k, n)
				if err := testenv.Retry(ErrLocked, func() error { return w.Append(context.Background(), "s", m) }); err != nil {
					t.Errorf("append: %v", err)
				}
				time.Sleep(time.Millisecond)
			}
			if err := w.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		readers.Go(func() {
			for last := 100; ctx.Err() == nil; {
				r, err := Open(st.Dir(), nil)
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				s, err := r.Summary(context.Background(), "s")
				if err != nil || s.Messages < last || s.Messages != s.Turns {
					t.Errorf("%d messages after %d, %d turns: %v", s.Messages, last, s.Turns, err)
				}
				last = s.Messages
				m, err := MessageOf(r, context.Background(), "s", last)
				if err != nil || last > 100 && !strings.Contains(m.Content(), "writer") {
					t.Errorf("message %d: %v", last, err)
				}
				if err := r.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
	messages, _ := opened(t, st.Dir())
	require.Equal(t, 100+2*each, messages)
}
