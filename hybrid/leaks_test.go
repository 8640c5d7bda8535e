package hybrid

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/slice"
)

const (
	leakText = "text-that-stays"
	keptID   = "kept-session"
	kidID    = "kid-session"
)

// keptBy are the ways in which a session stays.
var keptBy = map[string]func(o *Options){
	"name": func(o *Options) { o.Private = []string{"*draft*"} },
	"id":   func(*Options) {}, // KeepLocal
}

// judgedBy are the ways in which a program comes to judge the sessions of a directory.
var judgedBy = map[string]func(t *testing.T, c *cloud, dir string, o func(*Options)){
	"sync": func(t *testing.T, c *cloud, dir string, o func(*Options)) {
		requireClosed(t, synced(c.deviceAt(t, dir, "a", o)))
	},
	"status": func(t *testing.T, c *cloud, dir string, o func(*Options)) {
		a := c.deviceAt(t, dir, "a", o)
		_, err := a.Status(t.Context())
		require.NoError(t, err)
		requireClosed(t, a.Store)
	},
	"open": func(t *testing.T, c *cloud, dir string, o func(*Options)) {
		requireClosed(t, c.deviceAt(t, dir, "a", o).Store)
	},
	"open alone": func(t *testing.T, c *cloud, dir string, _ func(*Options)) { c.deviceAt(t, dir, "a") },
}

func synced(d *testDevice) *Store {
	d.t.Helper()
	d.sync()
	return d.Store
}

// nextProgram are the programs that open the directory after an accident.
var nextProgram = map[string]func(o *Options){
	"same":          func(*Options) {},
	"other user":    func(o *Options) { o.User = "" },
	"other project": func(o *Options) { o.Project = "another" },
	"other device":  func(o *Options) { o.Device = "b" },
	"all other":     func(o *Options) { o.User, o.Project, o.Device = "cron", "another", "b" },
}

// withKept makes a directory with a session that stays and its child, and closes it.
func withKept(t *testing.T, c *cloud, by string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "sessions")
	a := c.deviceAt(t, dir, "a", keptBy[by])
	if by == "id" {
		require.NoError(t, a.KeepLocal(t.Context(), keptID))
	}
	requireClosed(t, a.Store)
	a = &testDevice{t: t, Store: &Store{}} // a program without a remote writes
	var err error
	a.Store.Store, err = sessionstore.Open(dir, nil)
	require.NoError(t, err)
	a.say("open", "hello")
	a.say(keptID, leakText, "answer")
	a.setMember(keptID, "name", "my draft letter")
	a.say(kidID, leakText)
	a.put(kidID, "metadata.json", fmt.Sprintf(`{"session_id": %q, "parent_id": %q, "name": "a"}`, kidID, keptID))
	require.NoError(t, a.Store.Store.Close())
	return dir
}

// requireNoLeak opens the directory in each next program, and requires that nothing of what
// stays is sent.
func (c *cloud) requireNoLeak(t *testing.T, dir string) {
	t.Helper()
	for name, edit := range nextProgram {
		d := c.deviceAt(t, dir, "a", edit)
		_, err := d.Sync(t.Context())
		require.NoError(t, err, name)
		requireClosed(t, d.Store)
		c.requirePlain(t, nil, []string{leakText, keptID, kidID})
	}
	moved := dir + " moved"
	require.NoError(t, os.Rename(dir, moved))
	requireClosed(t, synced(c.deviceAt(t, moved, "a")))
	require.NoError(t, os.Rename(moved, dir))
	c.requirePlain(t, nil, []string{leakText, keptID, kidID})
}

// TestNothingKeptLeaves has accidents happen to the files of a session that stays and of its
// child: whichever program syncs next, under whatever owner, project and path, sends nothing
// of them. Each accident comes after one of the ways to judge them, in the soak after each.
func TestNothingKeptLeaves(t *testing.T) {
	t.Parallel()
	write := func(content string) func(*testing.T, string, string) {
		return func(t *testing.T, dir, id string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json"), []byte(content), 0o600))
		}
	}
	noBackup := func(do func(*testing.T, string, string)) func(*testing.T, string, string) {
		return func(t *testing.T, dir, id string) {
			do(t, dir, id)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, id, "metadata.json.backup")))
		}
	}
	olderBackup := func(do func(*testing.T, string, string)) func(*testing.T, string, string) {
		return func(t *testing.T, dir, id string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json.backup"), []byte(`{"name": "letter"}`), 0o600))
			do(t, dir, id)
		}
	}
	lost := func(t *testing.T, dir, id string) {
		require.NoError(t, os.Remove(filepath.Join(dir, id, "metadata.json")))
	}
	accidents := map[string]func(t *testing.T, dir, id string){
		"nothing":        func(*testing.T, string, string) {},
		"lost":           noBackup(lost),
		"lost, a backup": lost,
		"older backup": func(t *testing.T, dir, id string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json.backup"), []byte(`{"name": "letter"}`), 0o600))
			lost(t, dir, id)
		},
		"older backup, empty": func(t *testing.T, dir, id string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json.backup"), []byte(`{"name": "letter"}`), 0o600))
			write("{}")(t, dir, id)
		},
		"older backup, torn":            olderBackup(write(`{"name": "my dra`)),
		"older backup, byte order mark": olderBackup(write("\ufeff" + `{"name": "my draft letter"}`)),
		"older backup, more after it":   olderBackup(write(`{"name": "my draft letter"} {}`)),

		"empty object": noBackup(write("{}")),
		"empty file":   noBackup(write("")),
		"no name":      noBackup(write(`{"last_turn": "complete"}`)),
		"null":         noBackup(write(`{"name": null, "parent_id": null}`)),
		"empty name":   noBackup(write(`{"name": "", "parent_id": ""}`)),
		"a number":     noBackup(write(`{"name": 7}`)),
		"a list":       noBackup(write(`["a"]`)),
		"a string":     noBackup(write(`"x"`)),
		"torn":         noBackup(write(`{"name": "my dra`)),
	}
	for by := range keptBy {
		for name, accident := range accidents {
			t.Run(fmt.Sprint(by, "/", name), func(t *testing.T) {
				t.Parallel()
				for _, how := range testenv.Some(t, 1, slices.Sorted(maps.Keys(judgedBy))...) {
					t.Run(how, func(t *testing.T) {
						t.Parallel()
						c := newCloud(t, nil)
						dir := withKept(t, c, by)
						judgedBy[how](t, c, dir, keptBy[by])
						for _, id := range []string{keptID, kidID} {
							accident(t, dir, id)
						}
						c.requireNoLeak(t, dir)
					})
				}
			})
		}
	}
}

// TestCopiesOfWhatIsKeptStay makes sessions of what stays in all ways that there are, and then
// loses the metadata of each.
func TestCopiesOfWhatIsKeptStay(t *testing.T) {
	t.Parallel()
	type made = func(t *testing.T, a *testDevice) (id string)
	fork := func(older bool) made {
		return func(t *testing.T, a *testDevice) string {
			f, err := slice.Fork(t.Context(), a.Store.Store, keptID, &slice.ForkOptions{Older: older, Events: true})
			require.NoError(t, err)
			return f.ID
		}
	}
	tarOf := func(t *testing.T, a *testDevice, ids ...string) *bytes.Buffer {
		var b bytes.Buffer
		require.NoError(t, archive.Write(t.Context(), &b, a.Store.Store, ids, nil))
		return &b
	}
	imported := func(t *testing.T, a *testDevice, b *bytes.Buffer, id string) string {
		all, err := archive.Read(t.Context(), b, a.Store.Store, &archive.ReadOptions{ID: id})
		require.NoError(t, err)
		require.True(t, all[0].Kept)
		return all[0].ID
	}
	for name, make := range map[string]made{
		"fork":       fork(false),
		"older fork": fork(true),
		"fork of a fork": func(t *testing.T, a *testDevice) string {
			f, err := slice.Fork(t.Context(), a.Store.Store, fork(false)(t, a), nil)
			require.NoError(t, err)
			return f.ID
		},
		"cp -r": func(t *testing.T, a *testDevice) string {
			require.NoError(t, os.CopyFS(filepath.Join(a.Dir(), "copy"), os.DirFS(filepath.Join(a.Dir(), keptID))))
			return "copy"
		},
		"cp -r of a child": func(t *testing.T, a *testDevice) string {
			require.NoError(t, os.CopyFS(filepath.Join(a.Dir(), "copy"), os.DirFS(filepath.Join(a.Dir(), kidID))))
			return "copy"
		},
		"a copy elsewhere": func(t *testing.T, a *testDevice) string {
			elsewhere := filepath.Join(t.TempDir(), keptID)
			require.NoError(t, os.CopyFS(elsewhere, os.DirFS(filepath.Join(a.Dir(), keptID))))
			res, err := archive.ReadDir(t.Context(), elsewhere, a.Store.Store, &archive.ReadOptions{ID: "again", Name: "again"})
			require.NoError(t, err)
			require.True(t, res.Kept)
			return res.ID
		},
		"a copy elsewhere, in a folder of another name": func(t *testing.T, a *testDevice) string {
			elsewhere := filepath.Join(t.TempDir(), "folder")
			require.NoError(t, os.CopyFS(elsewhere, os.DirFS(filepath.Join(a.Dir(), keptID))))
			res, err := archive.ReadDir(t.Context(), elsewhere, a.Store.Store, &archive.ReadOptions{ID: "again", Name: "again"})
			require.NoError(t, err)
			require.True(t, res.Kept)
			return res.ID
		},
		"tar": func(t *testing.T, a *testDevice) string {
			b := tarOf(t, a, keptID)
			require.NoError(t, a.Delete(t.Context(), keptID))
			return imported(t, a, b, "")
		},
		"tar, other id": func(t *testing.T, a *testDevice) string { return imported(t, a, tarOf(t, a, keptID), "other") },
		"tar of a child": func(t *testing.T, a *testDevice) string {
			return imported(t, a, tarOf(t, a, kidID), "other")
		},
		"gz": func(t *testing.T, a *testDevice) string {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(tarOf(t, a, keptID).Bytes())
			require.NoError(t, err)
			require.NoError(t, z.Close())
			return imported(t, a, &b, "other")
		},
		"directory": func(t *testing.T, a *testDevice) string {
			got, err := archive.ReadDir(t.Context(), filepath.Join(a.Dir(), keptID), a.Store.Store, &archive.ReadOptions{ID: "other", Name: "plain"})
			require.NoError(t, err)
			require.True(t, got.Kept)
			return got.ID
		},
		"trash": func(t *testing.T, a *testDevice) string {
			gone, err := trash.Delete(t.Context(), a.Store.Store, []string{keptID}, &trash.Options{Quiet: -1, Allow: []trash.Kind{trash.Parent}})
			require.NoError(t, err)
			_, err = trash.Restore(t.Context(), a.Store.Store, gone.Receipt, nil)
			require.NoError(t, err)
			return keptID
		},
		"directory in the trash": func(t *testing.T, a *testDevice) string {
			a.sync()
			_, err := trash.Delete(t.Context(), a.Store.Store, []string{keptID}, &trash.Options{Quiet: -1, Allow: []trash.Kind{trash.Parent}})
			require.NoError(t, err)
			paths, err := filepath.Glob(filepath.Join(a.Dir(), ".trash", "*", "sessions", keptID))
			require.NoError(t, err)
			require.Len(t, paths, 1)
			got, err := archive.ReadDir(t.Context(), paths[0], a.Store.Store, &archive.ReadOptions{ID: "other"})
			require.NoError(t, err)
			require.True(t, got.Kept)
			return got.ID
		},
	} {
		for by := range keptBy {
			t.Run(by+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := newCloud(t, nil)
				dir := withKept(t, c, by)
				a := c.deviceAt(t, dir, "a")
				id := make(t, a)
				a.sync()
				require.Equal(t, Local, a.state(id).State)
				require.Error(t, a.Recreate(t.Context(), id))
				requireClosed(t, a.Store)
				require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json"), []byte("{}"), 0o600))
				c.requireNoLeak(t, dir)
			})
		}
	}
}

// TestKeptStaysInAnotherDirectory imports what stays into the sessions of another project.
func TestKeptStaysInAnotherDirectory(t *testing.T) {
	t.Parallel()
	for by := range keptBy {
		for _, how := range []string{"tar", "several", "directory", "symlink", "fork"} {
			t.Run(by+"/"+how, func(t *testing.T) {
				t.Parallel()
				c := newCloud(t, nil)
				dir := withKept(t, c, by)
				from, err := sessionstore.Open(dir, nil) // a program without a remote exports
				require.NoError(t, err)
				to := filepath.Join(t.TempDir(), "sessions")
				b, err := sessionstore.Open(to, nil)
				require.NoError(t, err)
				ctx := t.Context()
				ids := map[string][]string{"tar": {keptID}, "several": {"open", kidID}, "fork": {kidID, keptID}}[how]
				switch how {
				case "directory", "symlink":
					source := filepath.Join(dir, keptID)
					if how == "symlink" {
						link := filepath.Join(t.TempDir(), "link")
						require.NoError(t, os.Symlink(source, link))
						source = link
					}
					got, err := archive.ReadDir(ctx, source, b, nil)
					require.NoError(t, err)
					require.True(t, got.Kept)
				default:
					var tar bytes.Buffer
					require.NoError(t, archive.Write(ctx, &tar, from, ids, nil))
					got, err := archive.Read(ctx, &tar, b, nil)
					require.NoError(t, err)
					for _, s := range got {
						require.Equal(t, s.ID != "open", s.Kept, s.ID)
					}
				}
				require.NoError(t, from.Close())
				require.NoError(t, b.Close())
				require.Equal(t, how == "several", synced1(t, c, to) == 1)
				c.requirePlain(t, nil, []string{leakText, keptID, kidID})
			})
		}
	}
}

// synced1 opens a directory for the first time, and returns how many sessions its sync sends.
func synced1(t *testing.T, c *cloud, dir string) int {
	t.Helper()
	d := c.deviceAt(t, dir, "b", func(o *Options) { o.Project = "b" })
	defer requireClosed(t, d.Store)
	return d.sync().Pushed
}

// TestImportThatCannotBeKept: where it cannot be recorded that a session stays, it is not made.
func TestImportThatCannotBeKept(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.deviceAt(t, withKept(t, c, "id"), "a")
	var tar bytes.Buffer
	require.NoError(t, archive.Write(t.Context(), &tar, a.Store.Store, []string{keptID}, nil))
	b := c.device(t, "b")
	require.NoError(t, os.WriteFile(filepath.Join(b.Dir(), ".sessionstore", "sync", "local-only.json"), []byte(`{"v": 2}`), 0o600))
	got, err := archive.Read(t.Context(), &tar, b.Store.Store, nil)
	require.ErrorContains(t, err, "local-only.json")
	require.Empty(t, got)
	require.False(t, b.Exists(keptID))
}

// TestKeptIsRememberedWithoutASync: a program that never came to a sync, since the remote was
// away or since it only wrote, remembers what stays, too.
func TestKeptIsRememberedWithoutASync(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*Options){"manual": func(*Options) {}, "background": background, "no time to close": func(o *Options) {
		o.Manual, o.Background.CloseWait = false, -1
	}} {
		for by := range keptBy {
			t.Run(name+"/"+by, func(t *testing.T) {
				t.Parallel()
				c := newCloud(t, nil)
				dir := filepath.Join(t.TempDir(), "sessions")
				away := hybridtest.New()
				away.Cut()
				a := c.deviceAt(t, dir, "a", keptBy[by], func(o *Options) { o.Remote = away }, edit)
				if by == "id" {
					require.NoError(t, a.KeepLocal(t.Context(), keptID))
				}
				a.say(keptID, leakText)
				a.setMember(keptID, "name", "my draft letter")
				a.child(kidID, keptID)
				a.say("open", "hello")
				requireClosed(t, a.Store)
				for _, id := range []string{keptID, kidID} {
					require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json"), []byte("{}"), 0o600))
				}
				c.requireNoLeak(t, dir)
			})
		}
	}
}

// TestWhatEndsThatANameKeeps: a session that a glob kept by its name leaves with another name,
// without the glob, and after Release.
func TestWhatEndsThatANameKeeps(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, a *testDevice) func(*Options){
		"another name": func(t *testing.T, a *testDevice) func(*Options) {
			a.put(keptID, "metadata.json", `{"name": "letter"}`)
			return func(*Options) {}
		},
		"no glob":      func(*testing.T, *testDevice) func(*Options) { return func(o *Options) { o.Private = []string{} } },
		"another glob": func(*testing.T, *testDevice) func(*Options) { return func(o *Options) { o.Private = []string{"tax*"} } },
		"release": func(t *testing.T, a *testDevice) func(*Options) {
			require.NoError(t, a.Release(t.Context(), keptID))
			return func(*Options) {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			dir := withKept(t, c, "name")
			requireClosed(t, synced(c.deviceAt(t, dir, "a")))
			require.NoError(t, os.WriteFile(filepath.Join(dir, keptID, "metadata.json"), []byte("{}"), 0o600))
			a := c.deviceAt(t, dir, "a")
			require.Zero(t, a.sync().Pushed)
			require.Equal(t, Local, a.state(keptID).State)
			edit := end(t, a)
			a = c.reopened(t, a, "a", edit)
			require.Equal(t, 2, a.sync().Pushed, "and the child")
			require.Equal(t, UpToDate, a.state(keptID).State)
		})
	}
}

// TestNeverKeptLeaves: a session that never had a name, and that no rule ever kept, leaves.
func TestNeverKeptLeaves(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", keptBy["name"])
	for i, content := range []string{"{}", `{"name": null}`, `{"name": "letter"}`} {
		id := fmt.Sprint("s", i)
		a.say(id, "text")
		a.put(id, "metadata.json", content)
	}
	require.Equal(t, 3, a.sync().Pushed)
	names, err := filepath.Glob(filepath.Join(a.Dir(), ".sessionstore", "sync", "verdict-*"))
	require.NoError(t, err)
	require.Empty(t, names)
}

// TestVerdictThatCannotBeRead: where it is not known whether a session was kept, it is held
// back until somebody releases it.
func TestVerdictThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"newer": `{"v": 2, "session_id": "` + keptID + `"}`, "torn": `{"v": 1`, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			dir := withKept(t, c, "name")
			requireClosed(t, synced(c.deviceAt(t, dir, "a")))
			files, err := filepath.Glob(filepath.Join(dir, ".sessionstore", "sync", "verdict-*"))
			require.NoError(t, err)
			require.Len(t, files, 2)
			for _, file := range files {
				require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
			}
			for _, id := range []string{keptID, kidID} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json"), []byte("{}"), 0o600))
			}
			c.requireNoLeak(t, dir)
			a := c.deviceAt(t, dir, "a")
			a.requireHeld(keptID)
			require.ErrorContains(t, a.state(keptID).Err, "keep-local --release")
			require.NoError(t, a.Release(t.Context(), keptID))
			require.Equal(t, 1, a.sync().Pushed)
		})
	}
}

// TestWhatEarlierProgramsRememberedIsTakenOver: an update of the library forgets no verdict of
// before, under whatever owner, project, device and path it was stored.
func TestWhatEarlierProgramsRememberedIsTakenOver(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := withKept(t, c, "name")
	requireClosed(t, synced(c.deviceAt(t, dir, "a", func(o *Options) { o.User = "cron" })))
	at := filepath.Join(dir, ".sessionstore", "sync")
	files, err := filepath.Glob(filepath.Join(at, "verdict*"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		require.NoError(t, os.Remove(file)) // as before
	}
	for _, id := range []string{keptID, kidID} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, id, "metadata.json"), []byte("{}"), 0o600))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, id, "metadata.json.backup")))
	}
	c.requireNoLeak(t, dir)
}

// TestReleasedForkNamesNoParent: what the library writes of a parent into the metadata of a
// fork is not sent where the parent stays.
func TestReleasedForkNamesNoParent(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"fork": "", "conflict copy": "conflict_of", "copied directory": "session_id"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.deviceAt(t, withKept(t, c, "id"), "a")
			f, err := slice.Fork(t.Context(), a.Store.Store, keptID, nil)
			require.NoError(t, err)
			if more != "" {
				a.setMember(f.ID, more, keptID)
			}
			whole := a.file(f.ID, "metadata.json")
			require.Contains(t, whole, "fork_cost_boundary")
			require.NoError(t, a.Release(t.Context(), f.ID))
			require.Equal(t, 2, a.sync().Pushed, "and the open one")
			c.requirePlain(t, nil, []string{keptID, kidID, "fork_cost_boundary"})
			require.Equal(t, whole, a.file(f.ID, "metadata.json"))
			require.Zero(t, a.sync().Pushed)
			b := c.device(t, "b")
			b.pull(f.ID)
			var md map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(b.file(f.ID, "metadata.json")), &md))
			require.Equal(t, fmt.Sprintf("%q", f.ID), string(md["session_id"]))
			a.say(f.ID, "more")
			require.Equal(t, 1, a.sync().Pushed)
			b.pull(f.ID)
			b.setMember(f.ID, "status", "done")
			b.sync()
			a.sync()
			require.Contains(t, a.file(f.ID, "metadata.json"), `"parent_id": "`+keptID+`"`)
			require.Contains(t, a.file(f.ID, "metadata.json"), "fork_cost_boundary")
		})
	}
}

// TestNothingIsHeldWithoutRules: in a directory that remembers no rule a child whose parent is
// gone is sent, as another session; only torn metadata hold a session back, and nothing fails
// beside it.
func TestNothingIsHeldWithoutRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	a := c.deviceAt(t, dir, "a", func(o *Options) { o.Redact = Secrets() })
	for name, set := range parentNames {
		a.say("of "+name, "one")
		set(a, "of "+name, "gone")
	}
	a.say("odd", "one")
	a.put("odd", "metadata.json", `{"parent_id": 7}`)
	a.say("torn", "one")
	a.put("torn", "metadata.json", `{"parent_id": `)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "torn", "metadata.json.backup")))
	a.child("of torn", "torn")
	require.Equal(t, len(parentNames)+2, a.sync().Pushed)
	a.requireHeld("torn")
	require.NoError(t, a.Shutdown(t.Context()))
	for _, edit := range []func(*Options){background, func(*Options) {}} {
		next := c.deviceAt(t, dir, "a", edit)
		require.ErrorIs(t, next.state("torn").Err, ErrHeld)
		next.say("mine", "turn")
		require.NoError(t, next.Close())
	}
	a = c.deviceAt(t, dir, "a")
	require.NoError(t, a.Release(t.Context(), "torn"))
	require.Equal(t, 1, a.sync("torn").Pushed)
	require.Empty(t, a.sync().Held)
}

// TestHeldIsAState: where there are rules, a session that is held back is a state with a
// reason, in every program, and no failure of what concerns all sessions.
func TestHeldIsAState(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(t *testing.T, a *testDevice){
		"a glob": func(*testing.T, *testDevice) {},
		"a session": func(t *testing.T, a *testDevice) {
			require.NoError(t, a.KeepLocal(t.Context(), "another"))
			*a = *newGlobs(t, a)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a", keptBy["name"])
			a.child("orphan", "gone")
			rule(t, a)
			a.requireHeld("orphan")
			before, _ := LastSync(a.Dir())
			require.False(t, before.IsZero())
			require.NoError(t, a.Shutdown(t.Context()))
			for range 2 {
				a = c.deviceAt(t, a.Dir(), "a", background)
				is := a.state("orphan")
				require.Equal(t, Blocked, is.State)
				require.ErrorIs(t, is.Err, ErrHeld)
				a.say("mine", "turn")
				require.NoError(t, a.Close())
			}
			a = c.deviceAt(t, a.Dir(), "a")
			require.NoError(t, a.Release(t.Context(), "orphan"))
			require.Equal(t, 1, a.sync().Pushed)
		})
	}
}

// newGlobs opens the directory without globs.
func newGlobs(t *testing.T, a *testDevice) *testDevice {
	t.Helper()
	o := a.engine.opts
	o.Private = []string{}
	requireClosed(t, a.Store)
	s, err := Open(context.Background(), a.Dir(), &o)
	require.NoError(t, err)
	return &testDevice{s, t}
}
