package sessionstore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var atOnceFlag = flag.Int("rows", 0, "how many rows each writer of TestWritersAtOnceWithLocks, TestWritersAtOnceWithoutLocks and TestManyProcesses writes; 0: as many as is usual")

// atOnceRows returns how many rows a writer writes: usual, unless the flag says more or less.
func atOnceRows(usual int) int {
	if *atOnceFlag > 0 {
		return *atOnceFlag
	}
	return usual
}

// TestWritersAtOnceWithLocks lets stores and a tool that honours the lock append
// and count at once: nothing is lost. The tool imitates Python.
func TestWritersAtOnceWithLocks(t *testing.T) {
	t.Parallel()
	atOnceWithLocks(t, atOnceRows(100), func(python newPython, row string) error {
		return testenv.Retry(lock.ErrBusy, func() error {
			return python.locked(t.Context(), func() error {
				return errors.Join(python.append([]string{row}, ""), python.count("python"))
			})
		})
	})
}

// TestWritersAtOnceWithLocksPython is TestWritersAtOnceWithLocks with a tool that
// is written in Python.
func TestWritersAtOnceWithLocksPython(t *testing.T) {
	t.Parallel()
	process := writertest.StartPython(t, testenv.Python(t), writertest.NewScript, testenv.Seed(t))
	atOnceWithLocks(t, 30, func(python newPython, row string) error {
		return process.In(string(python)).Append("python", row)
	})
}

// atOnceWithLocks lets each store and the tool append so many rows at once.
func atOnceWithLocks(t *testing.T, each int, tool func(newPython, string) error) {
	t.Helper()
	dir := t.TempDir()
	python := newPython(filepath.Join(dir, turnsID))
	write(t, user("first")+"\n", string(python), transcriptFile)
	write(t, "{}", string(python), metadataFile)
	var all sync.WaitGroup
	errs := make(chan error, (len(durabilities)+1)*each)
	for name, durability := range durabilities {
		st := open(t, dir, &sessionstore.Options{Durability: durability})
		all.Go(func() {
			for i := range each {
				errs <- appendAndCount(t.Context(), st, turnsID, name, i)
			}
		})
	}
	for i := range each {
		require.NoError(t, tool(python, numbered("python", i)))
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	requireAll(t, dir, []string{"durable", "relaxed", "python"}, each)
}

// appendAndCount appends row i of the writer name, and counts it in metadata.
func appendAndCount(ctx context.Context, st *sessionstore.Store, id, name string, i int) error {
	m, err := sessionstore.ParseMessage([]byte(numbered(name, i)))
	if err != nil {
		return err
	}
	if err := testenv.Retry(sessionstore.ErrLocked, func() error { return st.Append(ctx, id, m) }); err != nil {
		return err
	}
	return testenv.Retry(sessionstore.ErrLocked, func() error {
		_, err := st.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error {
			n, _ := md.Int(name)
			return md.Set(name, n+1)
		})
		return err
	})
}

func numbered(name string, i int) string { return user(fmt.Sprint(name, " ", i)) }

// requireAll requires each row and each count of each writer, and each
// writer's rows in its own order.
func requireAll(t *testing.T, dir string, names []string, each int) {
	t.Helper()
	s, err := open(t, dir, nil).Load(t.Context(), turnsID)
	require.NoError(t, err)
	require.Nil(t, s.Recovered)
	require.Len(testenv.Lost(t), s.Messages, 1+len(names)*each)
	for _, name := range names {
		n, _ := s.Metadata.Int(name)
		require.Equal(testenv.Lost(t), each, n, name)
		next := 0
		for _, m := range s.Messages {
			if strings.HasPrefix(m.Content(), name+" ") {
				require.Equal(t, fmt.Sprint(name, " ", next), m.Content())
				next++
			}
		}
		require.Equal(testenv.Lost(t), each, next, name)
	}
	rows, err := newPython(filepath.Join(dir, turnsID)).load()
	require.NoError(t, err)
	require.Equal(t, lines(s.Messages), rows)
}

// span is the time that one call of a writer took, and the row that it wrote.
type span struct {
	row        string
	begin, end time.Time
}

// TestWritersAtOnceWithoutLocks lets a store and an old Python tool, which
// knows no lock, write at once. The reference loses what is written between
// its load and its rename, and so does whoever writes beside it. So: a row is
// missing at the end only if a call of the other was under way at some time
// while it was written; every other row is there, and every row that is there
// is whole. And once the tool is still, nothing is lost any more.
func TestWritersAtOnceWithoutLocks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a name cannot be given to another file while a reader has the first open")
	}
	n := testenv.Seed(t)
	for name := range durabilities {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atOnceWithoutLocks(t, n, name, atOnceRows(150), func(python oldPython, row string) error {
				rows, err := python.load()
				if err != nil {
					return err
				}
				return python.replace(transcriptFile, fileOf(append(rows, row)))
			})
		})
	}
}

// TestWritersAtOnceWithoutLocksPython is TestWritersAtOnceWithoutLocks with a
// tool that is written in Python.
func TestWritersAtOnceWithoutLocksPython(t *testing.T) {
	t.Parallel()
	interpreter := testenv.Python(t)
	n := testenv.Seed(t)
	for name := range durabilities {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			process := writertest.StartPython(t, interpreter, writertest.OldScript, n)
			atOnceWithoutLocks(t, n, name, 40, func(python oldPython, row string) error {
				tool := process.In(string(python))
				l, err := tool.Load()
				if err != nil {
					return err
				}
				_, err = tool.Save(writertest.Transcript, writertest.Content(append(l.Rows, row)))
				return err
			})
		})
	}
}

// atOnceWithoutLocks lets a store and the tool write so many rows each.
func atOnceWithoutLocks(t *testing.T, n uint64, durability string, each int, save func(oldPython, string) error) {
	t.Helper()
	dir := t.TempDir()
	python := oldPython(filepath.Join(dir, turnsID))
	write(t, user("first")+"\n", string(python), transcriptFile)
	write(t, "{}", string(python), metadataFile)
	st := open(t, dir, &sessionstore.Options{Durability: durabilities[durability]})
	var ours, theirs []span
	var both sync.WaitGroup
	turns := make(chan struct{}, 7) // of the tool, in one call of ours: a store that is overtaken 20 times gives up
	give := func() {
		for len(turns) < cap(turns) {
			turns <- struct{}{}
		}
	}
	both.Go(func() {
		defer close(turns)
		r := rand.New(rand.NewPCG(n, 1))
		ours = writeSpans("ours", each, r, give, func(row string) error {
			return st.Append(t.Context(), turnsID, parse(t, row)...)
		}, t.Errorf)
	})
	both.Go(func() {
		r := rand.New(rand.NewPCG(n, 2))
		theirs = writeSpans("theirs", each, r, func() { <-turns }, func(row string) error { return save(python, row) }, t.Errorf)
	})
	both.Wait()
	require.NoError(t, st.Append(t.Context(), turnsID, parse(t, user("last"))...))
	rows, err := python.load()
	require.NoError(t, err)
	s, err := st.Load(t.Context(), turnsID)
	require.NoError(t, err)
	require.Nil(t, s.Recovered)
	require.Equal(t, lines(s.Messages), rows)
	require.Equal(t, user("last"), rows[len(rows)-1])
	lostOurs := requireExcused(t, rows, ours, theirs)
	lostTheirs := requireExcused(t, rows, theirs, ours)
	t.Logf("lost by the tool's saves: %d of our %d rows; by ours: %d of its %d", lostOurs, len(ours), lostTheirs, len(theirs))
}

// writeSpans writes n rows with pauses between, each once it has its turn.
func writeSpans(name string, n int, r *rand.Rand, turn func(), do func(row string) error, failed func(string, ...any)) []span {
	spans := make([]span, 0, n)
	for i := range n {
		turn()
		s := span{row: numbered(name, i), begin: time.Now()}
		if err := do(s.row); err != nil {
			failed("write of %s: %v", s.row, err)
			continue
		}
		s.end = time.Now()
		spans = append(spans, s)
		time.Sleep(time.Duration(r.IntN(4_000)) * time.Microsecond)
	}
	return spans
}

// requireExcused counts the spans whose row is missing, each of which must
// overlap one of others.
func requireExcused(t *testing.T, rows []string, spans, others []span) (lost int) {
	t.Helper()
	for _, s := range spans {
		if slices.Contains(rows, s.row) {
			continue
		}
		lost++
		require.True(testenv.Lost(t), slices.ContainsFunc(others, func(o span) bool { return o.begin.Before(s.end) && s.begin.Before(o.end) }), "lost: %s", s.row)
	}
	return lost
}
