package accept_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// bytesRead returns how many bytes the thread of do asks the system for.
func bytesRead(t *testing.T, do func()) (n int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	count := func() (all int) {
		data, err := os.ReadFile("/proc/thread-self/io")
		testenv.Need(t, err == nil, "the system does not count what a thread reads")
		_, err = fmt.Sscanf(string(data), "rchar: %d", &all)
		require.NoError(t, err)
		return all
	}
	before := count()
	alone := count() - before // which reads as well
	before = count()
	do()
	return count() - before - alone
}

// heap returns how much memory is in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestCheckAllKeepsNothing judges a long transcript of pictures while it is read: once, where it
// is indexed, and in the memory of a few rows.
func TestCheckAllKeepsNothing(t *testing.T) { //nolint:paralleltest // it measures the heap
	dir := filepath.Join(testenv.Scratch(t), "sessions")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "s"), 0o755))
	f, err := os.Create(filepath.Join(dir, "s", "transcript.jsonl"))
	require.NoError(t, err)
	block := image("image/png", png(3000, 8, mb*3/4))
	size, rows := 0, testenv.Share(24, 48, 480)
	for range rows / 2 {
		n, err := fmt.Fprintln(f, userOf(block)+"\n"+say+"\n"+strings.Replace(userOf(block), "image/png", "image/gif", 1)+"\n"+say)
		require.NoError(t, err)
		size += n
	}
	require.NoError(t, f.Close())
	idle, most := 0, 0
	check := func() (refused []accept.Refusal, read int) {
		st, err := sessionstore.Open(dir, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, st.Close()) }()
		idle, most = heap(), 0
		read = bytesRead(t, func() {
			refused, err = accept.Target{}.CheckAll(func(yield func(sessionstore.Message, error) bool) {
				for e, err := range st.Since(t.Context(), "s", sessionstore.Cursor{}) {
					if e.N%16 == 0 {
						most = max(most, heap()-idle)
					}
					if !yield(e.Message, err) {
						return
					}
				}
			})
			require.NoError(t, err)
		})
		t.Logf("%d MB, %.3f of them read, %d KiB more", size/mb, float64(read)/float64(size), most>>10)
		require.LessOrEqual(t, most, 8*mb)
		return refused, read
	}
	first, read := check() // it indexes the transcript, too
	refused := first
	for range 3 { // the index of a file that was just written is not believed
		if read > size+size/20 {
			refused, read = check()
			require.Equal(t, first, refused)
		}
	}
	require.LessOrEqual(t, read, size+size/20)
	require.GreaterOrEqual(t, len(refused), rows+rows/2, "each picture is too wide among many, and every other one has a wrong type")
}

// TestManyPictures has costs that grow as the number of pictures in one message, and as the
// number of messages.
func TestManyPictures(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	block := image("image/gif", png(8, 8, 3000))
	rules := accept.PicturesOf(accept.Anthropic, accept.OwnAPI, 1_000_000)
	target := accept.Target{Pictures: &rules}
	cost := func(rows ...string) uint64 {
		msgs := parse(t, append(rows, say, ask)...)
		rules.Number.Certain = len(msgs) * 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fixed, err := target.Fix(msgs)
		require.NoError(t, err)
		require.NotEmpty(t, fixed.Amendments)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	one := func(n int) string { return userOf(strings.Split(strings.Repeat(block+"|", n-1)+block, "|")...) }
	require.Less(t, cost(one(800)), 6*cost(one(200)))
	many := func(n int) (rows []string) {
		for range n {
			rows = append(rows, one(40), say)
		}
		return rows
	}
	require.Less(t, cost(many(80)...), 6*cost(many(20)...))
}
