//go:build unix

package sessionstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const ownedID = "owned-1"

// house is a home of its own, with a workspace whose sessions are where hosts
// look for them.
type house struct{ home, workspace, dir string }

// newHouse makes the test live in a house.
func newHouse(t *testing.T) house {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	h := house{home: home, workspace: filepath.Join(home, "work")}
	require.NoError(t, os.Mkdir(h.workspace, 0o755))
	h.dir = filepath.Join(home, ".amplifier", "projects", sessionstore.ProjectSlug(h.workspace), "sessions")
	t.Setenv("HOME", home)
	t.Setenv("AMPLIFIER_HOME", "")
	t.Setenv("AMPLIFIER_SESSION_STATE_HOME", "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	return h
}

// state returns the directory of a session's shared state.
func (h house) state(id string) string {
	key := sha256.Sum256([]byte(h.workspace))
	return filepath.Join(h.home, "state", "amplifier", "sessions", "v1", hex.EncodeToString(key[:]), id)
}

func (h house) owner(t *testing.T, id string) map[string]any {
	var owner map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, h.state(id), "owner.json")), &owner))
	return owner
}

func (h house) metadata(t *testing.T) sessionstore.Metadata {
	return metadata(t, `{"working_dir": "`+h.workspace+`"}`)
}

func requireMode(t *testing.T, want os.FileMode, path ...string) {
	t.Helper()
	fi, err := os.Lstat(filepath.Join(path...))
	require.NoError(t, err)
	require.Equal(t, want, fi.Mode(), fi.Name())
}

// requireHeld tells whether somebody holds the ownership lock in a directory of
// shared state.
func requireHeld(t *testing.T, state string, want bool) {
	t.Helper()
	file, err := os.Open(filepath.Join(state, "session.lock"))
	require.NoError(t, err)
	defer file.Close()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	require.Equal(t, want, errors.Is(err, syscall.EWOULDBLOCK), "%v", err)
}

func TestAcquire(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, &sessionstore.Options{Workspace: h.workspace})
	hold, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test", Extra: map[string]string{"color": "blue"}})
	require.NoError(t, err)
	state := h.state(ownedID)
	for dir := state; filepath.Base(dir) != "sessions"; dir = filepath.Dir(dir) {
		requireMode(t, os.ModeDir|0o700, dir)
	}
	requireMode(t, 0o600, state, "session.lock")
	requireMode(t, 0o600, state, "owner.json")
	owner := h.owner(t, ownedID)
	for name, want := range map[string]any{
		"app": "test", "pid": float64(os.Getpid()), "workspace": h.workspace, "session_id": ownedID,
		"active": true, "coordination_root": filepath.Join(h.home, "state", "amplifier", "sessions"), "color": "blue",
	} {
		require.Equal(t, want, owner[name], name)
	}
	for _, name := range []string{"hostname", "user", "acquired_at", "acquisition_id"} {
		require.NotEmpty(t, owner[name], name)
	}
	require.Contains(t, owner, "process_start_identity")

	again, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{})
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
	require.NoError(t, hold.Release())
	require.NoError(t, hold.Release(), "a second time does nothing")
	require.Equal(t, owner["acquisition_id"], h.owner(t, ownedID)["acquisition_id"])
	require.Equal(t, true, h.owner(t, ownedID)["active"])
	other := open(t, h.dir, &sessionstore.Options{Workspace: h.workspace})
	_, err = other.Acquire(t.Context(), ownedID, sessionstore.Owner{})
	require.ErrorIs(t, err, sessionstore.ErrLocked)
	require.NoError(t, again.Release())
	require.Equal(t, false, h.owner(t, ownedID)["active"])
	require.NotEmpty(t, h.owner(t, ownedID)["released_at"])
	requireMode(t, 0o600, state, "session.lock")
	hold, err = other.Acquire(t.Context(), ownedID, sessionstore.Owner{})
	require.NoError(t, err)
	require.NoError(t, hold.Release())
}

func TestAcquireWhatHasNoOwner(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, &sessionstore.Options{Workspace: h.workspace})
	_, err := st.Acquire(t.Context(), "parent_agent", sessionstore.Owner{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = st.Acquire(t.Context(), "a/b", sessionstore.Owner{})
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	write(t, `{"n": 1}`, h.dir, "homeless", metadataFile)
	_, err = open(t, h.dir, nil).Acquire(t.Context(), "homeless", sessionstore.Owner{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoDirExists(t, filepath.Join(h.home, "state"))
}

// TestWritesOwn tells where a write takes the ownership lock by itself.
func TestWritesOwn(t *testing.T) {
	tests := []struct {
		name      string
		id        string
		elsewhere bool // the sessions are not where hosts look for them
		option    bool // with Options.Workspace
		owned     bool
	}{
		{"native directory", ownedID, false, false, true},
		{"elsewhere", ownedID, true, false, false},
		{"elsewhere, workspace given", ownedID, true, true, true},
		{"sub-session", "parent_agent", false, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			dir, o := h.dir, sessionstore.Options{}
			if tt.elsewhere {
				dir = filepath.Join(h.home, "elsewhere")
			}
			if tt.option {
				o.Workspace = h.workspace
			}
			st, err := sessionstore.Open(dir, &o)
			require.NoError(t, err)
			if !tt.option { // the metadata names the workspace
				write(t, string(h.metadata(t).AppendTo(nil)), dir, tt.id, metadataFile)
			}
			_, err = st.UpdateMetadata(t.Context(), tt.id, func(*sessionstore.Metadata) error { return nil })
			require.True(t, err == nil || errors.Is(err, sessionstore.ErrNotFound))
			require.NoFileExists(t, filepath.Join(h.state(tt.id), "session.lock"), "metadata needs no owner")
			require.NoError(t, st.Append(t.Context(), tt.id, parse(t, user("1"))...))
			if !tt.owned {
				require.NoFileExists(t, filepath.Join(h.state(tt.id), "session.lock"))
				require.NoError(t, st.Close())
				return
			}
			requireMode(t, 0o600, h.state(tt.id), "session.lock")
			require.NoFileExists(t, filepath.Join(h.state(tt.id), "owner.json"), "a call is no host")
			hold, err := st.Acquire(t.Context(), tt.id, sessionstore.Owner{})
			require.NoError(t, err)
			require.Equal(t, true, h.owner(t, tt.id)["active"])
			require.NoError(t, st.Append(t.Context(), tt.id, parse(t, user("2"))...))
			require.Equal(t, true, h.owner(t, tt.id)["active"])
			requireHeld(t, h.state(tt.id), true)
			require.NoError(t, hold.Release())
			require.Equal(t, false, h.owner(t, tt.id)["active"])
			requireHeld(t, h.state(tt.id), false)
			require.NoError(t, st.Append(t.Context(), tt.id, parse(t, user("3"))...))
			require.NoError(t, st.Close())
			require.Equal(t, false, h.owner(t, tt.id)["active"])
			requireHeld(t, h.state(tt.id), false)
		})
	}
}

// TestOwnedElsewhere has another process run the session.
func TestOwnedElsewhere(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, nil)
	write(t, string(h.metadata(t).AppendTo(nil)), h.dir, ownedID, metadataFile)
	write(t, user("1")+"\n", h.dir, ownedID, transcriptFile)
	p := spawn(t, "owner", h.dir, h.workspace, h.home)
	require.Equal(t, "held", p.Hear(t))
	before := tree(t, h.dir)
	revision, err := st.Revision(t.Context(), ownedID)
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"save":    func() error { return st.Save(t.Context(), ownedID, nil, sessionstore.Metadata{}) },
		"append":  func() error { return st.Append(t.Context(), ownedID, parse(t, user("2"))...) },
		"create":  func() error { return st.Create(t.Context(), ownedID, sessionstore.Metadata{}) },
		"delete":  func() error { return st.Delete(t.Context(), ownedID) },
		"replace": func() error { _, err := st.Replace(t.Context(), ownedID, revision, nil); return err },
		"acquire": func() error { _, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{}); return err },
	} {
		began := time.Now()
		err := call()
		require.ErrorIs(t, err, sessionstore.ErrLocked, name)
		require.ErrorContains(t, err, `"child" runs it`, name)
		require.NotContains(t, err.Error(), "busy", name+": its holder says so")
		testenv.Timely(t, name+", which waits for no host,", time.Since(began), 5*time.Second)
	}
	require.Equal(t, before, tree(t, h.dir))
	_, err = st.UpdateMetadata(t.Context(), ownedID, func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
	require.NoError(t, err)
	_, err = st.Load(t.Context(), ownedID)
	require.NoError(t, err)
	p.Kill()
	require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("2"))...))
	require.Equal(t, "child", h.owner(t, ownedID)["app"], "the record of a host that was killed stays")
	require.NoError(t, open(t, h.dir, nil).Append(t.Context(), ownedID, parse(t, user("3"))...),
		"and does not make a host of a call")
	require.NoError(t, st.Delete(t.Context(), ownedID))
	require.False(t, st.Exists(ownedID))
}

func init() { children["owner"] = ownerChild }

// ownerChild runs the session until it is killed.
func ownerChild(dir, workspace string) error {
	st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: workspace})
	if err != nil {
		return err
	}
	if _, err := st.Acquire(context.Background(), ownedID, sessionstore.Owner{App: "child"}); err != nil {
		return err
	}
	fmt.Println("held")
	<-testenv.Orders()
	return st.Close()
}

// TestFence has the session moved to another host: whatever has the name of
// the fence forbids to change it, and nothing forbids to read it.
func TestFence(t *testing.T) {
	fences := map[string]func(t *testing.T, path string){
		"staged": func(t *testing.T, path string) {
			write(t, `{"version":1,"session_id":"owned-1","transfer_id":"t-1","destination_host":"h","role":"source","phase":"staged"}`, path)
		},
		"empty":     func(t *testing.T, path string) { write(t, "", path) },
		"directory": func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"symlink":   func(t *testing.T, path string) { symlink(t, "nowhere", path) },
	}
	for name, fence := range fences {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			st := open(t, h.dir, nil)
			require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
			fence(t, filepath.Join(h.dir, ownedID, "transfer-fence.json"))
			requireFenced(t, h, st)
			require.NoError(t, st.Close())
			requireFenced(t, h, open(t, h.dir, nil))
		})
	}
}

func requireFenced(t *testing.T, h house, st *sessionstore.Store) {
	t.Helper()
	ctx := t.Context()
	before := tree(t, h.dir)
	revision, err := st.Revision(ctx, ownedID)
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"save":        func() error { return st.Save(ctx, ownedID, nil, sessionstore.Metadata{}) },
		"append":      func() error { return st.Append(ctx, ownedID, parse(t, user("2"))...) },
		"create":      func() error { return st.Create(ctx, ownedID, sessionstore.Metadata{}) },
		"delete":      func() error { return st.Delete(ctx, ownedID) },
		"save config": func() error { return st.SaveConfig(ctx, ownedID, sessionstore.Metadata{}) },
		"replace":     func() error { _, err := st.Replace(ctx, ownedID, revision, nil); return err },
		"update metadata": func() error {
			_, err := st.UpdateMetadata(ctx, ownedID, func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
			return err
		},
		"set name": func() error {
			_, _, err := st.SetName(ctx, ownedID, sessionstore.Naming{Name: "x", Source: "manual"})
			return err
		},
	} {
		require.ErrorIs(t, call(), sessionstore.ErrFenced, name)
	}
	require.Equal(t, before, tree(t, h.dir))
	s, err := st.Load(ctx, ownedID)
	require.NoError(t, err)
	require.Equal(t, []string{user("1")}, lines(s.Messages))
	_, _, err = st.LoadStrict(ctx, ownedID)
	require.NoError(t, err)
}

// TestCallsGiveTheLockUp has calls of a store that stays open: after each, a host
// gets the lock at once, also where the lock's directory was replaced meanwhile.
func TestCallsGiveTheLockUp(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, nil)
	state := h.state(ownedID)
	free := func() {
		t.Helper()
		requireHeld(t, state, false)
	}
	require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
	for range 3 {
		require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("2"))...))
		free()
	}
	revision, err := st.Revision(t.Context(), ownedID)
	require.NoError(t, err)
	_, err = st.Replace(t.Context(), ownedID, revision, parse(t, user("3")))
	require.NoError(t, err)
	free()

	for name, change := range map[string]func(){
		"removed":  func() { require.NoError(t, os.RemoveAll(state)) },
		"replaced": func() { require.NoError(t, os.Rename(state, state+"-old")); require.NoError(t, os.Mkdir(state, 0o700)) },
		"a file":   func() { require.NoError(t, os.Remove(filepath.Join(state, "session.lock"))) },
	} {
		change()
		require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("4"))...), name)
		free()
		host := spawn(t, "owner", h.dir, h.workspace, h.home)
		require.Equal(t, "held", host.Hear(t), name)
		require.ErrorIs(t, st.Append(t.Context(), ownedID, parse(t, user("5"))...), sessionstore.ErrLocked, name)
		host.Kill()
	}
	require.NoError(t, os.Chmod(state, 0o755))
	require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("6"))...), "no host can use that directory")
}

// TestAcquireForAWorkspace acquires a session of a directory that is not that of
// Options.Workspace: hosts of that workspace are kept out, and so are stores of the
// directory without the option.
func TestAcquireForAWorkspace(t *testing.T) {
	h := newHouse(t)
	dir := filepath.Join(h.home, "elsewhere")
	a := open(t, dir, &sessionstore.Options{Workspace: h.workspace})
	b := open(t, dir, nil)
	require.NoError(t, a.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
	hold, err := a.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(h.state(ownedID), "owner.json"), "for hosts of the workspace")
	require.NoError(t, a.Append(t.Context(), ownedID, parse(t, user("2"))...))
	for name, call := range writesOf(t, b) {
		err := call()
		require.ErrorIs(t, err, sessionstore.ErrLocked, name)
		require.ErrorContains(t, err, `"test" runs it`, name)
	}
	_, err = b.Acquire(t.Context(), ownedID, sessionstore.Owner{})
	require.ErrorIs(t, err, sessionstore.ErrLocked)
	require.NoError(t, hold.Release())
	require.NoError(t, b.Append(t.Context(), ownedID, parse(t, user("3"))...))
	hold, err = b.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "other"})
	require.NoError(t, err)
	_, err = a.Acquire(t.Context(), ownedID, sessionstore.Owner{})
	require.ErrorIs(t, err, sessionstore.ErrLocked)
	require.ErrorIs(t, a.Append(t.Context(), ownedID, parse(t, user("4"))...), sessionstore.ErrLocked)
	require.NoError(t, hold.Release())
	require.NoError(t, a.Append(t.Context(), ownedID, parse(t, user("4"))...))
	hold, err = a.Acquire(t.Context(), ownedID, sessionstore.Owner{})
	require.NoError(t, err)
	require.NoError(t, hold.Release())
}

// TestAcquireElsewhere acquires sessions in a directory where hosts do not look for
// them: one that was made there, a copy, and one that does not exist yet. That
// keeps others out of this directory, and nobody out of the original.
func TestAcquireElsewhere(t *testing.T) {
	for _, kind := range []string{"made there", "copy", "missing", "copy of what is fenced"} {
		t.Run(kind, func(t *testing.T) {
			h := newHouse(t)
			native := open(t, h.dir, nil)
			require.NoError(t, native.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
			dir := filepath.Join(h.home, "elsewhere")
			link := filepath.Join(h.home, "link")
			a := open(t, dir, nil)
			symlink(t, dir, link)
			b := open(t, link, nil)
			switch kind {
			case "made there":
				require.NoError(t, a.Append(t.Context(), ownedID, parse(t, user("1"))...))
			case "copy", "copy of what is fenced":
				require.NoError(t, os.CopyFS(filepath.Join(dir, ownedID), os.DirFS(filepath.Join(h.dir, ownedID))))
			}
			if kind == "copy of what is fenced" {
				write(t, `{"version":1,"session_id":"owned-1","transfer_id":"t-1","destination_host":"h","role":"source","phase":"staged"}`, h.dir, ownedID, "transfer-fence.json")
				require.NoError(t, os.Chmod(filepath.Join(h.dir, ownedID, "transfer-fence.json"), 0o600))
			}
			locks := filepath.Join(dir, ".sessionstore", "owners")
			require.NoDirExists(t, locks, "nobody has acquired anything")

			hold, err := a.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test"})
			require.NoError(t, err)
			requireMode(t, os.ModeDir|0o700, locks)
			requireMode(t, os.ModeDir|0o700, locks, ownedID)
			requireMode(t, 0o600, locks, ownedID, "session.lock")
			again, err := a.Acquire(t.Context(), ownedID, sessionstore.Owner{})
			require.NoError(t, err)
			require.NoError(t, a.Append(t.Context(), ownedID, parse(t, user("2"))...))
			for name, call := range writesOf(t, b) {
				err := call()
				require.ErrorIs(t, err, sessionstore.ErrLocked, name)
				require.ErrorContains(t, err, `"test" runs it`, name)
			}
			_, err = b.UpdateMetadata(t.Context(), ownedID, func(md *sessionstore.Metadata) error { return md.Set("n", 1) })
			require.NoError(t, err)
			require.NoError(t, again.Release())
			require.ErrorIs(t, b.Append(t.Context(), ownedID, parse(t, user("3"))...), sessionstore.ErrLocked)
			if kind != "copy of what is fenced" {
				require.NoError(t, native.Append(t.Context(), ownedID, parse(t, user("original"))...))
			}
			require.NoFileExists(t, filepath.Join(h.state(ownedID), "owner.json"), "no host runs the original")
			require.NoError(t, hold.Release())

			require.NoError(t, b.Append(t.Context(), ownedID, parse(t, user("4"))...))
			hold, err = b.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test"})
			require.NoError(t, err)
			require.ErrorIs(t, a.Append(t.Context(), ownedID, parse(t, user("5"))...), sessionstore.ErrLocked)
			require.NoError(t, hold.Release())
			require.NoError(t, a.Delete(t.Context(), ownedID))
			require.False(t, b.Exists(ownedID))
		})
	}
}

// TestAcquireWithoutTheDirectory acquires a session of a store whose sessions
// directory was removed. Hosts are kept out as before.
func TestAcquireWithoutTheDirectory(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprint(elsewhere), func(t *testing.T) {
			h := newHouse(t)
			t.Chdir(h.workspace)
			dir := h.dir
			if elsewhere {
				dir = filepath.Join(h.home, "elsewhere")
			}
			st := open(t, dir, nil)
			require.NoError(t, os.RemoveAll(dir))
			hold, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{})
			require.NoError(t, err)
			if !elsewhere {
				requireHeld(t, h.state(ownedID), true)
			}
			other := open(t, dir, nil)
			require.ErrorIs(t, other.Append(t.Context(), ownedID, parse(t, user("1"))...), sessionstore.ErrLocked)
			require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("1"))...))
			require.ErrorIs(t, other.Append(t.Context(), ownedID, parse(t, user("2"))...), sessionstore.ErrLocked)
			require.NoError(t, hold.Release())
			require.NoError(t, other.Append(t.Context(), ownedID, parse(t, user("2"))...))
		})
	}
}

// writesOf are the calls of a store that only the owner of a session may make.
func writesOf(t *testing.T, st *sessionstore.Store) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"save":    func() error { return st.Save(ctx, ownedID, nil, sessionstore.Metadata{}) },
		"append":  func() error { return st.Append(ctx, ownedID, parse(t, user("2"))...) },
		"create":  func() error { return st.Create(ctx, ownedID, sessionstore.Metadata{}) },
		"delete":  func() error { return st.Delete(ctx, ownedID) },
		"salvage": func() error { _, err := st.Salvage(ctx, ownedID); return err },
		"acquire": func() error { _, err := st.Acquire(ctx, ownedID, sessionstore.Owner{}); return err },
		"replace": func() error {
			revision, err := st.Revision(ctx, ownedID)
			if err == nil {
				_, err = st.Replace(ctx, ownedID, revision, nil)
			}
			return err
		},
	}
}

// TestDeleteForgetsTheOwner removes sessions that were run, or are, where hosts look for
// them and elsewhere. Afterwards no file says who ran them, the locks of the Python
// hosts stay, and the session can be run again.
func TestDeleteForgetsTheOwner(t *testing.T) {
	for _, where := range []string{"native", "elsewhere", "workspace"} {
		for _, running := range []bool{false, true} {
			for name, remove := range map[string]func(ctx context.Context, st *sessionstore.Store) error{
				"delete": func(ctx context.Context, st *sessionstore.Store) error { return st.Delete(ctx, ownedID) },
				"trash": func(ctx context.Context, st *sessionstore.Store) error {
					return core.Of(st).Send(ctx, ownedID, ".trash")
				},
			} {
				t.Run(fmt.Sprint(where, " ", running, " ", name), func(t *testing.T) {
					h := newHouse(t)
					dir, options := h.dir, &sessionstore.Options{}
					if where != "native" {
						dir = filepath.Join(h.home, "elsewhere")
					}
					if where == "workspace" {
						options.Workspace = h.workspace
					}
					st := open(t, dir, options)
					here := filepath.Join(dir, ".sessionstore", "owners", ownedID)
					require.NoError(t, os.MkdirAll(filepath.Join(dir, ".trash"), 0o700))
					for range 2 {
						require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
						hold, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test"})
						require.NoError(t, err)
						if !running {
							require.NoError(t, hold.Release())
						}
						require.NoError(t, remove(t.Context(), st))
						require.NoError(t, hold.Release())
						for _, state := range []string{h.state(ownedID), here} {
							require.NoFileExists(t, filepath.Join(state, "owner.json"))
						}
						if where != "elsewhere" {
							requireHeld(t, h.state(ownedID), false)
						}
						if !running {
							require.NoDirExists(t, here)
						}
						require.NoError(t, os.RemoveAll(filepath.Join(dir, ".trash", ownedID)))
					}
				})
			}
		}
	}
}

// A hold reports a transfer that has begun, a release, and the end of its store.
func TestHoldCheck(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, &sessionstore.Options{Workspace: h.workspace})
	hold, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	again, err := st.Acquire(t.Context(), ownedID, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	require.NoError(t, hold.Check())
	require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
	fence := filepath.Join(h.dir, ownedID, "transfer-fence.json")
	require.NoError(t, os.WriteFile(fence, []byte(`{"version":1,"session_id":"owned-1","transfer_id":"t-1","destination_host":"h","role":"source","phase":"staged"}`), 0o600))
	require.ErrorIs(t, hold.Check(), sessionstore.ErrFenced)
	require.NoError(t, os.WriteFile(fence, []byte("{}"), 0o600))
	require.ErrorContains(t, hold.Check(), "fence")
	require.NoError(t, os.Remove(fence))
	require.NoError(t, hold.Check())
	require.NoError(t, hold.Release())
	require.ErrorIs(t, hold.Check(), sessionstore.ErrClosed)
	require.NoError(t, again.Check(), "another hold of the same session")
	require.NoError(t, st.Close())
	require.ErrorIs(t, again.Check(), sessionstore.ErrClosed)
	require.NoError(t, again.Release())
	require.NoError(t, (&sessionstore.Hold{}).Check())
	require.NoError(t, (&sessionstore.Hold{}).Release())
}
