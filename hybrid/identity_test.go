package hybrid_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestStatusByIdentity opens a directory without its remote: what was known of that is told by its
// identity, also when the remote is gone, and nothing is sent.
func TestStatusByIdentity(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	place, sessions := filepath.Join(t.TempDir(), "remote"), filepath.Join(t.TempDir(), "sessions")
	require.NoError(t, dir.Provision(ctx, place))
	at, err := dir.Open(ctx, place)
	require.NoError(t, err)
	info, err := at.Info(ctx)
	require.NoError(t, err)
	open := func(o hybrid.Options) *hybrid.Store {
		o.Project = "p"
		st, err := hybrid.Open(ctx, sessions, &o)
		require.NoError(t, err)
		return st
	}
	said := func(text string) sessionstore.Message {
		m, err := sessionstore.Text("user", text, time.Time{})
		require.NoError(t, err)
		return m
	}
	states := func(st *hybrid.Store) map[string]hybrid.State {
		all, err := st.Status(ctx)
		require.NoError(t, err)
		found := map[string]hybrid.State{}
		for _, s := range all {
			found[s.SessionID] = s.State
		}
		return found
	}
	st := open(hybrid.Options{Remote: at, Manual: true, Private: []string{"local"}})
	for _, id := range []string{"sent", "grown", "local"} {
		require.NoError(t, st.Append(ctx, id, said("one")))
	}
	_, err = st.Sync(ctx)
	require.NoError(t, err)
	require.NoError(t, st.Append(ctx, "grown", said("two")))
	want := map[string]hybrid.State{"sent": hybrid.UpToDate, "grown": hybrid.Pending, "local": hybrid.Local}
	require.Equal(t, want, states(st))
	require.NoError(t, st.Close())
	require.NoError(t, at.Close())
	require.NoError(t, os.RemoveAll(place))

	st = open(hybrid.Options{Identity: info.Identity})
	require.Equal(t, want, states(st))
	_, err = st.Status(ctx, "nobody")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	for name, asks := range map[string]func(context.Context) error{
		"sync":  func(ctx context.Context) error { _, err := st.Sync(ctx, "grown"); return err },
		"pull":  func(ctx context.Context) error { _, err := st.Pull(ctx, "grown"); return err },
		"list":  func(ctx context.Context) error { _, err := st.Remote(ctx); return err },
		"purge": func(ctx context.Context) error { return st.Remove(ctx, "grown") },
	} {
		require.ErrorIs(t, asks(ctx), hybrid.ErrNoRemote, name)
	}
	require.NoError(t, st.KeepLocal(ctx, "grown"))
	require.NoError(t, st.Append(ctx, "new", said("one")))
	require.NoError(t, st.Close(), "nothing is sent, so nothing fails")

	st = open(hybrid.Options{Identity: "dir another"})
	require.Equal(t, map[string]hybrid.State{"sent": hybrid.Pending, "grown": hybrid.Local, "local": hybrid.Local, "new": hybrid.Pending}, states(st), "another remote has none")
	require.NoError(t, st.Close())
	st = open(hybrid.Options{})
	require.Equal(t, map[string]hybrid.State{"sent": hybrid.Local, "grown": hybrid.Local, "local": hybrid.Local, "new": hybrid.Local}, states(st), "without one")
	require.NoError(t, st.Close())
}
