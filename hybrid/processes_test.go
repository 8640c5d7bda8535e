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

	"github.com/amplifier-go/sessionstorage/internal/inuse"
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
