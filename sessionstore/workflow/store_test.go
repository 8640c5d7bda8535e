package workflow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestOnChange holds that the store tells of each file that was written.
func TestOnChange(t *testing.T) {
	t.Parallel()
	var files []string
	st := openWith(t, t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { files = append(files, c.ID+" "+c.File) }}, nil)
	require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
	l := New(st, research)
	files = nil
	save(t, l, PhaseOutput{PhaseID: "a", Status: running})
	save(t, l, PhaseOutput{PhaseID: "a", Status: completed})
	add(t, l, nil, userRole, "x")
	require.NoError(t, l.SetStatus(t.Context(), "s", failed))
	_, err := l.AddMessage(t.Context(), "s", nil, "nobody", "x")
	require.Error(t, err)
	outputs(t, l)
	require.Equal(t, []string{"s metadata.json", "s phase_outputs.jsonl", "s phase_outputs.jsonl", "s session_conversation.jsonl", "s metadata.json"}, files)
}

// TestClose closes the store while calls are under way: each is done or
// refused, and what was acknowledged is there.
func TestClose(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	var wg sync.WaitGroup
	var done atomic.Int64
	started := make(chan struct{}, 3)
	for range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := l.AddMessage(t.Context(), "s", nil, userRole, "x")
				if i == 0 {
					started <- struct{}{}
				}
				if err != nil {
					if !errors.Is(err, sessionstore.ErrClosed) {
						t.Error(err)
					}
					return
				}
				done.Add(1)
			}
		})
	}
	for range 3 {
		<-started
	}
	require.NoError(t, st.Close())
	wg.Wait()
	require.ErrorIs(t, l.SetStatus(t.Context(), "s", failed), sessionstore.ErrClosed)
	require.ErrorIs(t, l.Emit(t.Context(), PhaseOutput{SessionID: new("s"), Status: failed}), sessionstore.ErrClosed)
	_, err := l.Conversation(t.Context(), "s", nil)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	require.Len(t, conversation(t, New(openStore(t, st.Dir()))), int(done.Load()))
}

// fill writes a conversation of n messages of 1 KB, as other processes left it.
func fill(t testing.TB, st *sessionstore.Store, n int) {
	t.Helper()
	content := strings.Repeat("x", 1000)
	var log strings.Builder
	for i := range n {
		fmt.Fprintf(&log, `{"id": %d, "session_id": "s", "phase_id": null, "role": "user", "content": %q, "created_at": "2026-01-01T00:00:00.000Z"}`+"\n", i+1, content)
	}
	writeFile(t, st, conversationFile, log.String())
}

// TestCostOfAWrite holds that a write costs the line alone, however long the
// log is: in operations on the disk, in bytes written, and in memory, which is
// what is read.
func TestCostOfAWrite(t *testing.T) { // not at once with others: it measures memory
	for _, c := range []struct {
		durability sessionstore.Durability
		sizes      []int
		want       []string
	}{
		{sessionstore.Durable, []int{1000, testenv.Share(3000, 3000, 50_000)}, []string{"write", "chtimes", "sync"}},
		{sessionstore.Relaxed, []int{1000}, []string{"write", "chtimes"}},
	} {
		for _, n := range c.sizes {
			var ops []string
			written := 0
			st := openWith(t, t.TempDir(), &sessionstore.Options{Durability: c.durability}, &seam.Seam{After: func(op seam.Op) {
				ops = append(ops, op.Kind.String())
				written += len(op.Data)
			}})
			require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
			fill(t, st, n)
			l := New(st, research)
			add(t, l, nil, userRole, "first")
			for range 3 {
				ops, written = nil, 0
				before := allocated()
				add(t, l, nil, userRole, strings.Repeat("x", 1000))
				require.Less(t, allocated()-before, uint64(100_000), "messages=%d", n)
				require.Equal(t, c.want, ops, "messages=%d", n)
				require.Less(t, written, 1200, "messages=%d", n)
			}
			save(t, l, PhaseOutput{PhaseID: "a", Status: running})
			ops = nil
			save(t, l, PhaseOutput{PhaseID: "a", Status: running})
			require.Equal(t, c.want, ops, "phases as well")
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestNamesOfOthers holds that the name of a log that another process made is
// made durable once: that process may have been killed before it was.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	var synced []string
	st := openWith(t, t.TempDir(), nil, &seam.Seam{After: func(op seam.Op) {
		if op.Kind == seam.SyncDir {
			synced = append(synced, filepath.Base(op.Dir))
		}
	}})
	require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
	fill(t, st, 1)
	l := New(st)
	for want := range 2 {
		synced = nil
		add(t, l, nil, userRole, "x")
		require.Equal(t, []string{"s"}[want:], append([]string{}, synced...))
	}
	add(t, New(openStore(t, st.Dir())), nil, userRole, "another process")
	require.NoError(t, os.Rename(filepath.Join(st.Dir(), "s", conversationFile), filepath.Join(st.Dir(), "s", "away")))
	synced = nil
	require.Equal(t, int64(1), add(t, l, nil, userRole, "x"))
	require.Equal(t, []string{"s"}, synced)
}

// TestAnotherProcess writes by turns from two stores, which notice each other
// at once.
func TestAnotherProcess(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	other := New(openStore(t, st.Dir()), research)
	for i := range 20 {
		w := []*Workflow{l, other}[i%2]
		require.Equal(t, int64(i+1), add(t, w, nil, userRole, "x"))
		require.Equal(t, int64(i%5+1), save(t, w, PhaseOutput{PhaseID: string(rune('a' + i%5)), Status: running}))
	}
	require.Len(t, conversation(t, other), 20)
	require.Len(t, outputs(t, l), 5)
}

// takings counts what a reader does with the rows of a log.
type takings struct {
	rows
	taken, forgotten int
}

func (c *takings) take(r *logReader, line jsonl.Line) bool {
	c.taken++
	return c.rows.take(r, line)
}

func (c *takings) forget() {
	c.forgotten++
	c.rows.forget()
}

// TestWriterReadsOn has another process write in between: the next write takes the lines of
// the other and its own, and no line twice, also where the log lacked its last LF.
func TestWriterReadsOn(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	other := New(openStore(t, st.Dir()), research)
	for i, size := range []int{10, markSize, 3 * markSize, 1} {
		add(t, l, nil, userRole, strings.Repeat("x", size))
		k := l.states.take("s/" + conversationFile)
		seen := &takings{rows: k.rows}
		k.rows = seen
		l.states.put("s/"+conversationFile, k)
		add(t, other, nil, userRole, strings.Repeat("y", size))
		writeFile(t, st, conversationFile, strings.TrimSuffix(readFile(t, st, conversationFile), "\n"))
		before := k.lines
		require.EqualValues(t, 3*i+3, add(t, l, nil, userRole, "z"))
		require.Equal(t, []int{2, 0}, []int{seen.taken, seen.forgotten}, size)
		require.Equal(t, before+2, k.lines)
		k.rows = seen.rows
	}
	require.Len(t, conversation(t, other), 12)
}

// TestEndsAreBounded holds that what is kept of logs is bounded in memory.
func TestEndsAreBounded(t *testing.T) {
	t.Parallel()
	es := &New(openStore(t, t.TempDir())).states
	for i := range 100 {
		es.put(fmt.Sprint(i), &logReader{size: statesLimit / 10})
		require.LessOrEqual(t, es.lru.Cost(), int64(statesLimit))
	}
	require.Equal(t, 9, es.lru.Len())
	require.Nil(t, es.take("0"))
	require.NotNil(t, es.take("99"))
	require.Nil(t, es.take("99"), "it was taken")
	es.put("large", &logReader{size: 2 * statesLimit})
	require.Equal(t, 1, es.lru.Len(), "the last one is kept")
	es.nameSynced("none", 1)
	es.nameSynced("large", 1)
	require.EqualValues(t, 1, es.take("large").synced)
	require.Zero(t, es.lru.Cost())
}
