package sessionstore_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
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

// TestSinceReads looks at how much of a large transcript is read to tell what
// is new.
func TestSinceReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const size = 16 << 20
	write(t, strings.Repeat(user(strings.Repeat("word ", 800))+"\n", size/4000), dir, "s", transcriptFile)
	time.Sleep(50 * time.Millisecond)
	own := open(t, dir, nil)
	var r reader
	read := func(st *sessionstore.Store, want int) int {
		t.Helper()
		have := len(r.rows)
		n := bytesRead(t, func() {
			from, err := r.read(t, st, "s", -1)
			require.NoError(t, err)
			require.Zero(t, from)
		})
		require.Len(t, r.rows, have+want)
		return n
	}
	require.Greater(t, read(own, size/4000), size, "the first time, all of it")
	const little = 400 << 10 // the index and some blocks
	require.Less(t, read(own, 0), little, "nothing has changed")
	require.Less(t, read(open(t, dir, nil), 0), little, "nor for a new process")

	r.rows, r.cursor = nil, ""
	half := size / 8000
	_, err := r.read(t, open(t, dir, nil), "s", half)
	require.NoError(t, err)
	require.Less(t, read(open(t, dir, nil), size/4000-half), size/2+little, "what is behind the cursor")

	_, err = own.Load(t.Context(), "s") // it is cached from now on
	require.NoError(t, err)
	read(own, 0)
	for range 5 {
		require.NoError(t, own.Append(t.Context(), "s", parse(t, user("more"))...))
		require.Less(t, read(own, 1), 4<<10, "an append by the same store")
	}
	require.Less(t, read(open(t, dir, nil), 0), size+size/10, "an append by another one: the index compares what it knows")
	time.Sleep(50 * time.Millisecond)
	read(open(t, dir, nil), 0)
	require.Less(t, read(open(t, dir, nil), 0), little)
}
