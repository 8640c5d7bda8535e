package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCloseBesideMoves moves and removes watched directories, which makes the
// system's watcher tell of errors, while others are added that nobody hears of
// yet, and closes the Notifier in the middle of that.
func TestCloseBesideMoves(t *testing.T) {
	t.Parallel()
	for round := range 200 {
		top := testenv.Scratch(t)
		w, err := watch.NewNotifier()
		require.NoError(t, err)
		const dirs = 20
		for i := range dirs {
			dir := filepath.Join(top, fmt.Sprint("d", i))
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, w.Add(dir))
		}
		moved := make(chan struct{})
		go func() {
			defer close(moved)
			for i := range dirs {
				dir := filepath.Join(top, fmt.Sprint("d", i))
				if os.Rename(dir, dir+"-moved") == nil {
					_ = os.Remove(dir + "-moved")
				}
			}
		}()
		time.Sleep(time.Duration(round%10) * 50 * time.Microsecond)
		ended := make(chan error, 1)
		go func() {
			_ = w.Add(top) // what it says does not matter, but that it ends
			ended <- w.Close()
		}()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			require.Fail(t, "Close waits for ever")
		}
		<-moved
	}
}
