package watch_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCloseEndsNoOtherWatch closes a Notifier while it goes through moves of its
// directories. Its descriptor's number goes to another at once, which keeps its watches.
func TestCloseEndsNoOtherWatch(t *testing.T) {
	const dirs, rounds = 50, 1000
	top := testenv.Scratch(t)
	path := func(i int) string { return filepath.Join(top, strconv.Itoa(i)) }
	other, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Close(other)) })
	for i := range dirs {
		require.NoError(t, os.Mkdir(path(i), 0o700))
		_, err := unix.InotifyAddWatch(other, path(i), unix.IN_DELETE)
		require.NoError(t, err)
	}
	for round := range rounds {
		free, err := unix.FcntlInt(uintptr(other), unix.F_DUPFD_CLOEXEC, 0)
		require.NoError(t, err)
		require.NoError(t, unix.Close(free))
		w, err := watch.NewNotifier() // at the number free, most times
		require.NoError(t, err)
		for i := range dirs {
			require.NoError(t, w.Add(path(i)))
		}
		write(t, filepath.Join(path(0), "new"), "")
		require.NoError(t, os.Remove(filepath.Join(path(0), "new"))) // the second event waits for the first to be received
		for i := range dirs {
			require.NoError(t, os.Rename(path(i), path(i)+".away"))
			require.NoError(t, os.Rename(path(i)+".away", path(i)))
		}
		for range 1 + round%8 {
			<-w.Events()
		}
		closed := make(chan error, 1)
		go func() { closed <- w.Close() }()
		var at int
		for ended := false; !ended && at != free; {
			at, err = unix.FcntlInt(uintptr(other), unix.F_DUPFD_CLOEXEC, free)
			require.NoError(t, err)
			if at != free {
				require.NoError(t, unix.Close(at))
			}
			select {
			case err := <-closed:
				closed <- err
				ended = true
			default:
			}
		}
		require.NoError(t, <-closed)
		if at == free {
			require.NoError(t, unix.Close(at))
		}
		for i := range dirs {
			number, err := unix.InotifyAddWatch(other, path(i), unix.IN_DELETE)
			require.NoError(t, err)
			require.Equal(t, i+1, number, "a watch was ended and is new")
		}
	}
}
