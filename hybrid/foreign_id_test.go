package hybrid

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// localIDs are ids that a program here may choose, and that no session gets from a remote.
var localIDs = []string{"-rf", "--help", ".git", ".hidden", "an id", "it's", "a'b; $(x)"}

// enter writes an entry into the catalogue for a session of any id, without a head.
func enter(d *testDevice, id string) {
	d.t.Helper()
	entry := head.Catalogue{SID: d.engine.SID(id), UID: d.engine.UID(), Revision: 1, Session: id, Project: "demo", Updated: time.Now(), N: 1, Turns: 1}
	_, err := d.engine.Connect().WriteEntry(d.t.Context(), &entry, "")
	require.NoError(d.t, err)
}

// inRemote fills the remote by a device that has sessions of odd ids, and with entries of ids that no
// store has. It returns the ids that are to stay there.
func inRemote(a *testDevice) []string {
	ids := slices.Concat(localIDs, []string{"a\x00b", "\x00", "..", ".", "../up", "con\nnl", "CON", "nul.txt", `a\b`, "x\x1b]0;y\a", "x\u202ey", ""})
	for _, id := range localIDs {
		a.say(id, "odd")
	}
	a.say("good", "one")
	a.sync(append(localIDs, "good")...) // by name: no list has those that begin with a dot
	for _, id := range ids[len(localIDs):] {
		enter(a, id)
	}
	slices.Sort(ids)
	return ids
}

// requireStay checks that a device has the session good, and no other.
func requireStay(t *testing.T, d *testDevice) {
	t.Helper()
	require.Equal(t, []string{"one"}, d.texts("good"))
	entries, err := os.ReadDir(d.Dir())
	require.NoError(t, err)
	for _, e := range entries {
		require.Contains(t, []string{"good", ".sessionstore", ".good.metadata.lock"}, e.Name())
	}
}

func idsOfExceptions(all []Exception) (ids []string) {
	for _, x := range all {
		ids = append(ids, x.SessionID)
	}
	return ids
}

// TestForeignIDs pulls from a remote with ids that are no names on every system: these
// sessions stay there, as blocked, and the others come.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	m := new(memremote.Remote)
	a := inMemory(t, m, "a")
	stay := inRemote(a)
	b := inMemory(t, m, "b")
	for range 2 {
		res, err := b.Pull(t.Context())
		require.NoError(t, err)
		require.Equal(t, stay, idsOfExceptions(res.Blocked))
		for _, x := range res.Blocked {
			require.ErrorIs(t, x.Err, sessionstore.ErrInvalidID)
		}
		require.Empty(t, res.Failed)
		requireStay(t, b)
	}
	all, err := b.Status(t.Context())
	require.NoError(t, err)
	blocked := 0
	for _, s := range all {
		if s.State == Blocked {
			require.ErrorIs(t, s.Err, sessionstore.ErrInvalidID)
			require.Contains(t, stay, s.SessionID)
			blocked++
		}
	}
	require.Equal(t, len(stay), blocked)
	require.Len(t, all, len(stay)+1)
	one, err := b.Status(t.Context(), "-rf", "good")
	require.NoError(t, err)
	require.Equal(t, []State{Blocked, UpToDate}, []State{one[0].State, one[1].State})

	listed, err := b.Remote(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, len(stay)+1)
	_, err = b.Sync(t.Context())
	require.NoError(t, err)
	p, err := b.Preview(t.Context(), "-rf")
	require.NoError(t, err)
	require.Len(t, p.Messages, 1)
	_, err = b.Preview(t.Context(), "a\x00b")
	require.Error(t, err)
	requireStay(t, b)
}

// TestForeignIDsByName brings such sessions by each call that names one.
func TestForeignIDsByName(t *testing.T) {
	t.Parallel()
	m := new(memremote.Remote)
	a := inMemory(t, m, "a")
	stay := inRemote(a)
	for _, id := range localIDs {
		a.cutTo(id, 0)
		a.say(id, "again")
	}
	a.sync(localIDs...)
	b := inMemory(t, m, "b")
	b.pull()
	for _, id := range stay {
		calls := map[string]func() error{
			"pull":     func() error { _, err := b.Pull(t.Context(), id); return err },
			"sync":     func() error { _, err := b.Sync(t.Context(), id); return err },
			"refresh":  func() error { _, err := b.Refresh(t.Context(), id); return err },
			"recreate": func() error { return b.Recreate(t.Context(), id) },
			"restore": func() error {
				all, err := b.Histories(t.Context(), id)
				if len(all) == 0 {
					return cmp.Or(err, errors.New("there is nothing to restore"))
				}
				return b.Restore(t.Context(), id, all[0])
			},
		}
		for name, call := range calls {
			err := call()
			require.Error(t, err, "%s %q", name, id)
			if slices.Contains(localIDs, id) {
				require.ErrorIs(t, err, sessionstore.ErrInvalidID, "%s %q", name, id)
			}
		}
	}
	requireStay(t, b)
	for _, id := range localIDs { // the device that has them goes on
		require.Equal(t, []string{"again"}, a.texts(id))
		a.say(id, "more")
	}
	a.sync(localIDs...)
	all, err := a.Status(t.Context(), localIDs...)
	require.NoError(t, err)
	for _, s := range all {
		require.Equal(t, UpToDate, s.State, s.SessionID)
	}
	res, err := a.Pull(t.Context())
	require.NoError(t, err)
	require.Len(t, res.Blocked, len(stay)-len(localIDs))
}

// TestForeignIDsInTheBackground opens a store that syncs by itself: good sessions come, nothing
// is tried again, and the store closes without an error.
func TestForeignIDsInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		stay := inRemote(a)
		b := c.device(t, "b", background, func(o *Options) {
			o.OnStatus = func(s Status) { require.NotContains(t, stay, s.SessionID) }
		})
		time.Sleep(15 * time.Minute)
		requireStay(t, b)
		at, _ := LastSync(b.Dir())
		require.WithinDuration(t, time.Now(), at, 10*time.Minute, "no session has failed")
		require.NoError(t, b.Close())
	})
}

// TestForeignIDsHere lets a directory go on with sessions that it got under such ids before: they are
// sent, and brought up to date.
func TestForeignIDsHere(t *testing.T) {
	t.Parallel()
	m := new(memremote.Remote)
	a, b := inMemory(t, m, "a"), inMemory(t, m, "b")
	for _, id := range localIDs {
		a.say(id, "one")
		b.say(id, "one")
	}
	a.sync(localIDs...)
	b.sync(localIDs...)
	for _, id := range localIDs {
		a.say(id, "two")
	}
	a.sync(localIDs...)
	res, err := b.Pull(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Blocked)
	for _, id := range localIDs {
		require.Equal(testenv.Lost(t), []string{"one", "two"}, b.texts(id))
	}
	// Removed here, such a session stays away, as any other.
	require.NoError(t, b.Delete(t.Context(), "-rf"))
	b.sync()
	res, err = b.Pull(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Blocked)
	require.NoError(t, b.Close())
}

// TestForeignIDsInHeads has heads that name another id and another parent than their entries: nothing fails, and the
// entry's id counts.
func TestForeignIDsInHeads(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a\x00b", "..", ".git", "con\nnl", "CON", "-rf"} {
		m := new(memremote.Remote)
		a := inMemory(t, m, "a")
		a.say("good", "one")
		a.sync()
		link, sid := a.engine.Connect(), a.engine.SID("good")
		was, known, err := link.Head(t.Context(), sid, remoteread.Known{})
		require.NoError(t, err)
		was.Session, was.Parent = id, id
		was.Revision++
		doc, err := was.Encode()
		require.NoError(t, err)
		_, err = link.Commit(t.Context(), doc.PK, nil, remoteread.Swap(doc, known.Version))
		require.NoError(t, err)
		b := inMemory(t, m, "b")
		res, err := b.Pull(t.Context())
		require.NoError(t, err)
		require.Empty(t, res.Blocked)
		requireStay(t, b)
		require.NoError(t, b.Close())
	}
}

// TestForeignIDsAreCopied copies a remote that has such sessions, and no error stops it.
func TestForeignIDsAreCopied(t *testing.T) {
	t.Parallel()
	m, to := new(memremote.Remote), new(memremote.Remote)
	a := inMemory(t, m, "a")
	inRemote(a)
	res, err := Copy(t.Context(), m, to, "ada", "demo", nil)
	require.NoError(t, err)
	require.Equal(t, len(localIDs)+1, res.Copied)
	b := inMemory(t, to, "b")
	pulled, err := b.Pull(t.Context())
	require.NoError(t, err)
	require.Len(t, pulled.Blocked, len(localIDs))
	requireStay(t, b)
}
