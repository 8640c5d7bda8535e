package hybrid

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
)

// TestTwoStoresOfOneDirectory is what two processes are that sync one
// directory, beside another device. What comes from there is taken once neither
// has written for a while: each is a stranger to the other.
func TestTwoStoresOfOneDirectory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, twoStoresOfOneDirectory)
}

func twoStoresOfOneDirectory(t *testing.T) {
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	stores := []*testDevice{c.deviceAt(t, dir, "a"), c.deviceAt(t, dir, "a")}
	other := c.device(t, "b")
	var work sync.WaitGroup
	for i, s := range stores {
		work.Go(func() {
			for n := range 20 {
				s.say("s", fmt.Sprint("store ", i, " line ", n))
				_, err := s.Sync(context.Background(), "s")
				if err != nil && !errors.Is(err, ErrContended) {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	require.Empty(t, stores[0].sync().Conflicts)
	require.Len(t, stores[0].texts("s"), 40)
	require.Equal(t, []string{"s"}, stores[0].ids())
	other.pull()
	require.Equal(t, stores[0].file("s", "transcript.jsonl"), other.file("s", "transcript.jsonl"))
	other.say("s", "from elsewhere")
	other.sync()
	time.Sleep(inuse.Window)
	for _, s := range stores {
		work.Go(func() {
			if _, err := s.Sync(context.Background(), "s"); err != nil && !errors.Is(err, ErrContended) {
				t.Error(err)
			}
		})
	}
	work.Wait()
	stores[0].sync()
	stores[1].sync()
	require.Len(t, stores[1].texts("s"), 41)
	require.Equal(t, stores[0].file("s", "transcript.jsonl"), other.file("s", "transcript.jsonl"))
}

// TestTwoStoresOfOneProcess: the background of one store brings nothing into a session
// that the other one used in the last ten minutes, though both are of one process.
func TestTwoStoresOfOneProcess(t *testing.T) {
	t.Parallel()
	for _, used := range []string{"wrote", "refreshed"} {
		synctest.Test(t, func(t *testing.T) {
			c := newCloud(t, nil)
			dir := filepath.Join(t.TempDir(), "sessions")
			other := c.device(t, "b")
			other.say("s", "one")
			other.sync()
			app, behind := c.deviceAt(t, dir, "a"), c.deviceAt(t, dir, "a", background)
			app.pull()
			time.Sleep(inuse.Window + time.Minute)
			want := []string{"one"}
			if used == "wrote" {
				app.say("s", "two")
				want = append(want, "two")
			} else {
				_, err := app.Refresh(t.Context(), "s")
				require.NoError(t, err)
			}
			start := time.Now()
			app.sync()
			other.pull()
			other.say("s", "from elsewhere")
			other.sync()
			for time.Since(start) < inuse.Window-time.Second {
				require.Equal(t, want, behind.texts("s"), "%s %v ago", used, time.Since(start))
				time.Sleep(time.Second)
			}
			require.Equal(t, Behind, behind.state("s").State)
			time.Sleep(time.Minute + 5*time.Second)
			require.Equal(t, append(want, "from elsewhere"), behind.texts("s"))
		})
	}
}
