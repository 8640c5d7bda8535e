package hybrid

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// local opens a store without a remote, with sessions by their parents.
func local(t *testing.T, o *Options, parents map[string]string) *testDevice {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions"), o)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	d := &testDevice{s, t}
	for id, parent := range parents {
		d.say(id, "text of "+id)
		d.setMember(id, "parent_id", parent)
	}
	return d
}

// TestTold: what a rule keeps is not told, nor what descends from it, without a remote too.
func TestTold(t *testing.T) {
	t.Parallel()
	d := local(t, &Options{Private: []string{"*draft*"}}, map[string]string{
		"plain": "", "of-plain": "plain", "hidden": "", "of-hidden": "hidden", "of-of-hidden": "of-hidden", "kept": "", "of-kept": "kept",
		"named": "", "of-named": "named", "deleted": "", "of-deleted": "deleted", "of-of-deleted": "of-deleted", "run": "",
	})
	d.setMember("named", "name", "my draft")
	require.NoError(t, d.Hide(t.Context(), "hidden"))
	require.NoError(t, d.KeepLocal(t.Context(), "kept"))
	_, err := trash.Delete(t.Context(), d.Store.Store, []string{"deleted"}, &trash.Options{Quiet: -1, Allow: []trash.Kind{trash.Parent}})
	require.NoError(t, err)
	hold, err := d.Acquire(t.Context(), "run", sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	other, err := sessionstore.Open(d.Dir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	told := func() (ids []string) {
		for _, id := range []string{"plain", "of-plain", "hidden", "of-hidden", "of-of-hidden", "kept", "of-kept", "named", "of-named", "deleted", "of-deleted", "of-of-deleted", "run", "nobody", "../plain", ".trash", ""} {
			if is := Told(t.Context(), d.Store.Store, id); is {
				ids = append(ids, id)
			}
		}
		return ids
	}
	lost := testenv.Lost(t)
	require.Equal(lost, []string{"plain", "of-plain"}, told())
	require.False(t, Told(t.Context(), other, "run"), "another process asks")
	require.NoError(t, hold.Release())
	require.Equal(lost, []string{"plain", "of-plain", "run"}, told())
	if os.Getuid() == 0 { // who alone gives files away
		require.NoError(t, os.Chown(filepath.Join(d.Dir(), "run"), 4711, -1))
		require.Equal(lost, []string{"plain", "of-plain"}, told())
		require.NoError(t, os.Chown(filepath.Join(d.Dir(), "run"), 0, -1))
	}
	require.NoError(t, d.Unhide(t.Context(), "hidden"))
	require.Equal(lost, []string{"plain", "of-plain", "hidden", "of-hidden", "of-of-hidden", "run"}, told())
	require.NoError(t, os.WriteFile(filepath.Join(d.Dir(), ".sessionstore", "sync", replica.LocalOnlyFile), []byte(`{"v":`), 0o600))
	require.Empty(lost, told(), "the rules cannot be read")
}

// TestToldWithoutRules: where there are no rules, none are made, and what descends from the trash
// is not told.
func TestToldWithoutRules(t *testing.T) {
	t.Parallel()
	d := local(t, nil, map[string]string{"plain": "nobody", "deleted": "", "child": "deleted", "grandchild": "child"})
	_, err := trash.Delete(t.Context(), d.Store.Store, []string{"deleted"}, &trash.Options{Quiet: -1, Allow: []trash.Kind{trash.Parent}})
	require.NoError(t, err)
	for id, want := range map[string]bool{"plain": true, "deleted": false, "child": false, "grandchild": false} {
		require.Equal(t, want, Told(t.Context(), d.Store.Store, id), id)
	}
	require.NoDirExists(t, filepath.Join(d.Dir(), ".sessionstore", "sync"))
}

// TestHiddenStays: a hidden session is not sent and not released, and is afterwards what it was.
func TestHiddenStays(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	for _, id := range []string{"s", "kept", "child"} {
		a.say(id, "text of "+id)
	}
	a.setMember("child", "parent_id", "s")
	require.NoError(t, a.KeepLocal(t.Context(), "kept"))
	for _, id := range []string{"s", "kept", "s"} {
		require.NoError(t, a.Hide(t.Context(), id))
	}
	require.Zero(t, a.sync().Pushed)
	require.Equal(t, Local, a.state("s").State)
	require.ErrorIs(t, a.Release(t.Context(), "s"), ErrLocal)
	require.ErrorContains(t, a.Release(t.Context(), "s"), "Unhide")
	c.requireNoTrace(t, "text of")
	for range 2 {
		for _, id := range []string{"s", "kept"} {
			require.NoError(t, a.Unhide(t.Context(), id))
		}
	}
	require.Equal(t, 2, a.sync().Pushed)
	require.Equal(t, Local, a.state("kept").State)
	require.NoError(t, a.Hide(t.Context(), "kept"))
	require.NoError(t, a.Unhide(t.Context(), "kept"))
	require.NoError(t, a.Release(t.Context(), "kept"))
	require.Equal(t, 1, a.sync().Pushed)
}

// TestHiddenForOlderPrograms: a program that knows no hidden sessions keeps them here, and those
// that it keeps or releases do not change that.
func TestHiddenForOlderPrograms(t *testing.T) {
	t.Parallel()
	d := local(t, nil, map[string]string{"s": "", "other": ""})
	require.NoError(t, d.Hide(t.Context(), "s"))
	path := filepath.Join(d.Dir(), ".sessionstore", "sync", replica.LocalOnlyFile)
	var doc struct { // all that they read, and write again
		V        int      `json:"v"`
		Sessions []string `json:"sessions"`
		Released []string `json:"released,omitempty"`
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Equal(t, 1, doc.V)
	require.Contains(t, doc.Sessions, "s")
	doc.Sessions, doc.Released = append(slices.Clone(doc.Sessions), "other"), []string{"third"}
	text, err = json.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	require.False(t, Told(t.Context(), d.Store.Store, "s"))
	require.False(t, Told(t.Context(), d.Store.Store, "other"))
	require.ErrorIs(t, d.Release(t.Context(), "s"), ErrLocal)
	require.NoError(t, d.Unhide(t.Context(), "s"))
	require.True(t, Told(t.Context(), d.Store.Store, "s"))

	require.NoError(t, d.Hide(t.Context(), "s"))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	doc.Sessions = append(slices.DeleteFunc(doc.Sessions, func(id string) bool { return id == "s" }), "s") // it keeps it local
	text, err = json.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	require.NoError(t, d.Hide(t.Context(), "s"))
	require.NoError(t, d.Unhide(t.Context(), "s"))
	require.False(t, Told(t.Context(), d.Store.Store, "s"))
	require.NoError(t, d.Release(t.Context(), "s"))
	require.True(t, Told(t.Context(), d.Store.Store, "s"))
}

// TestToldInDoubt: nothing is told where the rules are out of reach, nor a session by another name.
func TestToldInDoubt(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "it makes symlinks")
	d := local(t, nil, map[string]string{"plain": "", "hidden": ""})
	require.NoError(t, d.Hide(t.Context(), "hidden"))
	require.NoError(t, os.Symlink("hidden", filepath.Join(d.Dir(), "alias")))
	require.False(t, Told(t.Context(), d.Store.Store, "alias"))
	for _, rules := range []string{filepath.Join(d.Dir(), ".sessionstore"), filepath.Join(d.Dir(), ".sessionstore", "sync")} {
		away := filepath.Join(t.TempDir(), "rules")
		require.NoError(t, os.Rename(rules, away))
		require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "nothing"), rules))
		for _, id := range []string{"plain", "hidden"} {
			require.False(t, Told(t.Context(), d.Store.Store, id), id)
			require.True(t, archive.Kept(t.Context(), d.Store.Store, id), id)
		}
		require.NoError(t, os.Remove(rules))
		require.NoError(t, os.Rename(away, rules))
		require.True(t, Told(t.Context(), d.Store.Store, "plain"))
	}
}
