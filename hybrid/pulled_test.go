package hybrid

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func sessions(list []Exception) (ids []string) {
	for _, x := range list {
		ids = append(ids, x.SessionID)
	}
	return ids
}

// TestPullTells pulls sessions of every kind at once, and looks what it says of
// each.
func TestPullTells(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	for _, id := range []string{"changed", "same", "run", "both", "broken"} {
		a.saveNew(id, "one")
	}
	a.sync()
	require.Equal(t, 5, b.pull().Pulled)
	for _, id := range []string{"changed", "run", "both", "broken"} {
		a.saveOne(id, "from a")
	}
	a.saveNew("new", "one")
	a.saveNew("new-and-broken", "one")
	a.sync()
	hold, err := b.Acquire(t.Context(), "run", sessionstore.Owner{App: "agent"})
	require.NoError(t, err)
	defer func() { require.NoError(t, hold.Release()) }()
	b.saveOne("both", "from b")
	broken := []string{b.engine.SID("broken"), b.engine.SID("new-and-broken")}
	c.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		for _, sid := range broken {
			if strings.Contains(r.Partition, sid) {
				return cosmostest.Refuse(http.StatusBadRequest, 0)
			}
		}
		return cosmostest.Fault{}
	}))
	got, err := b.Pull(t.Context())
	require.Error(t, err)
	require.Equal(t, 6, got.Sessions)
	require.Equal(t, 3, got.Pulled, "changed, new and both")
	require.Equal(t, []string{"run"}, sessions(got.Behind))
	require.ErrorIs(t, got.Behind[0].Err, ErrDeferred)
	require.ErrorContains(t, got.Behind[0].Err, "somebody runs")
	require.Equal(t, []string{"both"}, sessions(got.Diverged))
	require.Error(t, got.Diverged[0].Err)
	require.Len(t, got.Conflicts, 1)
	require.NotEmpty(t, got.Conflicts[0].KeptAs)
	require.Equal(t, []string{"broken", "new-and-broken"}, sessions(got.Failed))
	for _, x := range got.Failed {
		require.ErrorIs(t, err, x.Err)
		require.ErrorIs(t, x.Err, ErrBlocked)
	}
	require.False(t, b.Exists("new-and-broken"))

	c.Inject(nil)
	got = b.pull()
	require.Equal(t, 2, got.Pulled)
	require.Empty(t, got.Failed)
	require.Equal(t, []string{"run"}, sessions(got.Behind))
}
