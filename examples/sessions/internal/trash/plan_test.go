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
		allow   []Hindrance
		take    []string
	}{
		{name: "none", ids: []string{"e", "d"}, take: []string{"e", "d"}},
		{name: "a child stays", ids: []string{"b"}},
		{name: "a child is named", ids: []string{"b", "d"}, take: []string{"b", "d"}},
		{name: "a child of a child stays", ids: []string{"a", "b", "c"}, take: []string{"c"}},
		{name: "all", ids: []string{"d", "c", "b", "a"}, take: []string{"d", "c", "b", "a"}},
		{name: "a running one keeps its ancestors", ids: []string{"a", "b", "c", "d"}, running: "d", take: []string{"c"}},
		{name: "running is not overcome", ids: []string{"d"}, running: "d", allow: []Hindrance{Running}},
		{name: "recent", ids: []string{"d"}, recent: "d"},
		{name: "recent is overcome", ids: []string{"d"}, recent: "d", allow: []Hindrance{Recent}, take: []string{"d"}},
		{name: "another is overcome", ids: []string{"d"}, recent: "d", allow: []Hindrance{Unsynced, Parent}},
		{name: "parents are overcome", ids: []string{"a"}, allow: []Hindrance{Parent}, take: []string{"a"}},
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
					s.hinder(Running, "")
				}
				if id == tt.recent {
					s.hinder(Recent, "")
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
	st := open(t, sessionsDir(t), nil)
	put(t, st, "root", "")
	put(t, st, "fork", "root")
	put(t, st, "old-0123456789abcdef_agent", "") // its parent is named by its id
	put(t, st, "old", "")
	put(t, st, "new", "")
	age(t, filepath.Join(st.Dir(), "new"), time.Second)

	p := plan(t, st, Options{Quiet: 24 * time.Hour}, "fork", "new")
	require.Equal(t, []string{"fork"}, ids(p.Take))
	require.Equal(t, "name of fork", p.Take[0].Name)
	require.Equal(t, 4, p.Take[0].Files)
	require.Greater(t, p.Take[0].Bytes, int64(100))
	require.Equal(t, p.Take[0].Bytes, Bytes(p.Take))
	require.Equal(t, Recent, p.Keep[0].Obstacles[0].Hindrance)

	p = plan(t, st, Options{}, "root", "old")
	require.Empty(t, p.Take)
	for _, s := range p.Keep {
		require.Equal(t, Parent, s.Obstacles[0].Hindrance, s.ID)
	}
	p = plan(t, st, Options{Descendants: true}, "root", "old")
	require.ElementsMatch(t, []string{"root", "fork", "old", "old-0123456789abcdef_agent"}, ids(p.Take))

	_, err := New(t.Context(), st, []string{"none"}, Options{})
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = New(t.Context(), st, []string{".trash"}, Options{})
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	_, err = New(t.Context(), st, []string{"../p"}, Options{})
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
}

func TestPlanKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.SkipNow() // there are no ownership locks
	}
	workspace := t.TempDir()
	st := open(t, sessionsDir(t), nil)
	put(t, st, "idle", "")
	id := sessionstore.NewID()
	put(t, st, id, "")
	host, err := sessionstore.Open(st.Dir(), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer host.Close()
	release, err := host.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	same, err := sessionstore.Open(st.Dir(), &sessionstore.Options{Workspace: workspace})
	require.NoError(t, err)
	defer same.Close()

	p, err := New(t.Context(), same, []string{"idle", id}, Options{Allow: []Hindrance{Running, Recent, Parent, Unsynced}})
	require.NoError(t, err)
	require.Equal(t, []string{"idle"}, ids(p.Take))
	require.Equal(t, Running, p.Keep[0].Obstacles[0].Hindrance)

	require.NoError(t, release())
	p, err = New(t.Context(), same, []string{id}, Options{})
	require.NoError(t, err)
	require.Len(t, p.Take, 1)
	release, err = host.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	res, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Receipt.ID)
	require.ErrorIs(t, res.Failed[0].Err, sessionstore.ErrLocked)
	require.True(t, st.Exists(id))
	require.NoError(t, release())
}

func TestPlanSymlinkAndUnsynced(t *testing.T) {
	t.Parallel()
	st := open(t, sessionsDir(t), nil)
	put(t, st, "a", "")
	put(t, st, "b", "")
	asked := []string(nil)
	o := Options{Unsynced: func(_ context.Context, ids []string) (map[string]string, error) {
		asked = ids
		return map[string]string{"a": "3 messages"}, nil
	}}
	p := plan(t, st, o, "a", "b")
	require.Equal(t, []string{"a", "b"}, asked)
	require.Equal(t, []string{"b"}, ids(p.Take))
	require.Equal(t, []Obstacle{{Unsynced, "3 messages"}}, p.Keep[0].Obstacles)
	o.Allow = []Hindrance{Unsynced}
	p = plan(t, st, o, "a")
	require.Equal(t, []Obstacle{{Unsynced, "3 messages"}}, p.Take[0].Obstacles, "the receipt tells")

	if runtime.GOOS != "windows" {
		outside := t.TempDir()
		require.NoError(t, os.Symlink(outside, filepath.Join(st.Dir(), "link")))
		p = plan(t, st, Options{Allow: []Hindrance{Symlink}}, "link")
		require.Empty(t, p.Take)
		require.Equal(t, Symlink, p.Keep[0].Obstacles[0].Hindrance)
	}
}
