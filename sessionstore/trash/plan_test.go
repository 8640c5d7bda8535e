package trash

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	children := family{"a": {"b", "c"}, "b": {"d"}, "x": {"y"}, "y": {"x"}}
	tests := []struct {
		name    string
		ids     []string
		running string
		recent  string
		allow   []Kind
		take    []string
	}{
		{name: "none", ids: []string{"e", "d"}, take: []string{"e", "d"}},
		{name: "a child stays", ids: []string{"b"}},
		{name: "a child is named", ids: []string{"b", "d"}, take: []string{"b", "d"}},
		{name: "a child of a child stays", ids: []string{"a", "b", "c"}, take: []string{"c"}},
		{name: "all", ids: []string{"d", "c", "b", "a"}, take: []string{"d", "c", "b", "a"}},
		{name: "a running one keeps its ancestors", ids: []string{"a", "b", "c", "d"}, running: "d", take: []string{"c"}},
		{name: "running is not overcome", ids: []string{"d"}, running: "d", allow: []Kind{Running}},
		{name: "recent", ids: []string{"d"}, recent: "d"},
		{name: "recent is overcome", ids: []string{"d"}, recent: "d", allow: []Kind{Recent}, take: []string{"d"}},
		{name: "another is overcome", ids: []string{"d"}, recent: "d", allow: []Kind{Unsynced, Parent}},
		{name: "parents are overcome", ids: []string{"a"}, allow: []Kind{Parent}, take: []string{"a"}},
		{name: "a circle", ids: []string{"x", "y"}, take: []string{"x", "y"}},
		{name: "half of a circle", ids: []string{"x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sessions []Session
			for _, id := range tt.ids {
				s := Session{ID: id}
				if id == tt.running {
					s.obstruct(Running, "")
				}
				if id == tt.recent {
					s.obstruct(Recent, "")
				}
				sessions = append(sessions, s)
			}
			take, keep := decide(sessions, children, tt.allow)
			require.Equal(t, tt.take, ids(take))
			require.Len(t, keep, len(tt.ids)-len(tt.take))
			for _, s := range keep {
				require.NotEmpty(t, s.Obstacles, s.ID)
			}
		})
	}
	require.Equal(t, []string{"a", "b", "c", "d"}, children.descendants([]string{"a"}))
	require.Equal(t, []string{"y", "x"}, children.descendants([]string{"y"}))
}

func TestPlan(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "root", "")
	put(t, st, "fork", "root")
	put(t, st, "old-0123456789abcdef_agent", "") // its parent is named by its id
	put(t, st, "old", "")
	put(t, st, "new", "")
	age(t, filepath.Join(st.Dir(), "new"), time.Second)

	p := plan(t, st, Options{Quiet: 24 * time.Hour}, "fork", "new")
	require.Equal(t, []string{"fork"}, ids(p.Remove))
	require.Equal(t, "name of fork", p.Remove[0].Name)
	require.Equal(t, 5, p.Remove[0].Files) // metadata and transcript, the backup of each, and a log
	require.Greater(t, p.Remove[0].Bytes, int64(100))
	require.Equal(t, p.Remove[0].Bytes, Bytes(p.Remove))
	require.Equal(t, Recent, p.Keep[0].Obstacles[0].Kind)

	p = plan(t, st, Options{}, "new")
	require.Equal(t, Recent, p.Keep[0].Obstacles[0].Kind, "ten minutes are usual")
	p = plan(t, st, Options{Quiet: -1}, "new")
	require.Equal(t, []string{"new"}, ids(p.Remove))

	p = plan(t, st, Options{}, "root", "old")
	require.Empty(t, p.Remove)
	for _, s := range p.Keep {
		require.Equal(t, Parent, s.Obstacles[0].Kind, s.ID)
	}
	p = plan(t, st, Options{Descendants: true}, "root", "old")
	require.ElementsMatch(t, []string{"root", "fork", "old", "old-0123456789abcdef_agent"}, ids(p.Remove))

	_, err := NewPlan(t.Context(), st, []string{"none"}, nil)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = NewPlan(t.Context(), st, []string{".trash"}, nil)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	_, err = NewPlan(t.Context(), st, []string{"../p"}, nil)
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
}

func TestPlanKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.SkipNow() // there are no ownership locks
	}
	workspace := t.TempDir()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "idle", "")
	id := sessionstore.NewID()
	put(t, st, id, "")
	host, err := sessionstore.Open(st.Dir(), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer host.Close()
	hold, err := host.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	same, err := sessionstore.Open(st.Dir(), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer same.Close()

	p, err := NewPlan(t.Context(), same, []string{"idle", id}, &Options{Allow: []Kind{Running, Recent, Parent, Unsynced}})
	require.NoError(t, err)
	require.Equal(t, []string{"idle"}, ids(p.Remove))
	require.Equal(t, Running, p.Keep[0].Obstacles[0].Kind)

	require.NoError(t, hold.Release())
	p, err = NewPlan(t.Context(), same, []string{id}, nil)
	require.NoError(t, err)
	require.Len(t, p.Remove, 1)
	hold, err = host.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	res, err := p.Delete(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Receipt.ID)
	require.ErrorIs(t, res.Failed[0].Err, sessionstore.ErrLocked)
	require.True(t, st.Exists(id))
	require.NoError(t, hold.Release())
}

func TestPlanSymlinkAndUnsynced(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "a", "")
	put(t, st, "b", "")
	asked := []string(nil)
	o := Options{Unsynced: func(_ context.Context, ids []string) (map[string]string, error) {
		asked = ids
		return map[string]string{"a": "3 messages"}, nil
	}}
	p := plan(t, st, o, "a", "b")
	require.Equal(t, []string{"a", "b"}, asked)
	require.Equal(t, []string{"b"}, ids(p.Remove))
	require.Equal(t, []Obstacle{{Unsynced, "3 messages"}}, p.Keep[0].Obstacles)
	o.Allow = []Kind{Unsynced}
	p = plan(t, st, o, "a")
	require.Equal(t, []Obstacle{{Unsynced, "3 messages"}}, p.Remove[0].Obstacles, "the receipt tells")

	if runtime.GOOS != "windows" {
		outside := t.TempDir()
		require.NoError(t, os.Symlink(outside, filepath.Join(st.Dir(), "link")))
		p = plan(t, st, Options{Allow: []Kind{Symlink}}, "link")
		require.Empty(t, p.Remove)
		require.Equal(t, Symlink, p.Keep[0].Obstacles[0].Kind)
	}
}
