package hybrid

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// alias is a remote under one of its names.
type alias struct {
	remote.Remote
	identity string
	swaps    *atomic.Int32 // that were made or tried
}

func (n alias) Info(ctx context.Context) (remote.Info, error) {
	info, err := n.Remote.Info(ctx)
	info.Identity = n.identity
	return info, err
}

func (n alias) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	n.swaps.Add(1)
	return n.Remote.Commit(ctx, part, objects, swap)
}

// TestAnotherNameOfOneRemote opens a directory with another name of its remote: each head is read
// once, and nothing is written. Then each name costs what it cost.
func TestAnotherNameOfOneRemote(t *testing.T) {
	t.Parallel()
	at, r := filepath.Join(t.TempDir(), "sessions"), &memremote.Remote{}
	var swaps atomic.Int32
	const sessions = 20
	sync := func(name string) SyncResult {
		s, err := Open(t.Context(), at, &Options{Remote: alias{r, name, &swaps}, Project: "demo", User: "ada", Device: "a", Manual: true})
		require.NoError(t, err)
		d := &testDevice{s, t}
		if !d.Exists("s0") {
			for i := range sessions {
				d.say(fmt.Sprint("s", i), "one", "two")
			}
		}
		got := d.sync()
		require.NoError(t, d.Close())
		return got
	}
	sync("s3 https://one.example bucket/")
	for _, name := range []string{"s3 https://other.example bucket/", "s3 https://one.example bucket/"} {
		swaps.Store(0)
		got := sync(name)
		require.Zero(t, swaps.Load(), "all is there")
		require.LessOrEqual(t, got.Requests, sessions+2, "a list of the catalogue, and each head")
		require.Equal(t, sessions, got.Sessions)
	}
}
