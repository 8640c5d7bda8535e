package hybrid

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// swapping is a remote that calls after once, after the swap of a head.
type swapping struct {
	remote.Remote
	after func()
}

func (h *swapping) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	v, err := h.Remote.Commit(ctx, part, objects, swap)
	if do := h.after; err == nil && swap != nil && strings.HasSuffix(swap.Name, "-head") && do != nil {
		h.after = nil
		do()
	}
	return v, err
}

// TestEntryNeverGoesBack has another device go on with a session between this device's swap of the
// head and its write of the entry, while a poll reads the catalogue: the later entry stays.
func TestEntryNeverGoesBack(t *testing.T) {
	t.Parallel()
	there := &memremote.Remote{}
	between := &swapping{Remote: there}
	device := func(name string, r remote.Remote) *testDevice {
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), &Options{Remote: r, Project: "demo", User: "ada", Device: name, Manual: true})
		require.NoError(t, err)
		testenv.Cleanup(t, func() { requireClosed(t, s) })
		return &testDevice{s, t}
	}
	a, b := device("a", between), device("b", there)
	a.say("s", "one", "two")
	a.sync()
	b.pull()
	a.say("s", "three")
	between.after = func() {
		b.sync("s")
		b.say("s", "four", "five")
		b.sync("s")
		_, err := a.engine.readCatalogue(t.Context()) // as the background does
		require.NoError(t, err)
	}
	a.sync("s")
	listed, err := device("c", there).Remote(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, 5, listed[0].Messages)
}
