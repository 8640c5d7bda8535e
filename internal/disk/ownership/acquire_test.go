//go:build unix

package ownership

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var app = Options{App: "test"}

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Child{"holds": holdUntilKilled})
}

// holdUntilKilled is the other process of the tests.
func holdUntilKilled(home, _ string) error {
	s, err := Locate(homeEnv(home), Identity{Workspace: filepath.Join(home, "work space"), SessionID: testID})
	if err == nil {
		_, err = Acquire(context.Background(), s, Options{App: "child"})
	}
	if err != nil {
		fmt.Println(err)
		return nil
	}
	fmt.Println("held")
	<-testenv.Orders()
	return nil
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestAcquireWritesTheRecord(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	at := time.Date(2026, 9, 20, 10, 0, 0, 123456789, time.FixedZone("", 7200))
	held, err := Acquire(t.Context(), s, Options{App: "test \u00e9 \"x\"", Now: func() time.Time { return at }})
	require.NoError(t, err)
	text := readFile(t, s.OwnerPath())
	shape := `^\{"app":"test é \\"x\\"","hostname":"[^"]*","user":"[^"]+","pid":\d+,` +
		`"process_start_identity":(null|"\d+"),"acquired_at":"2026-09-20T08:00:00\.123456\+00:00",` +
		`"workspace":"` + regexp.QuoteMeta(s.Workspace) + `","session_id":"` + testID + `","active":true,` +
		`"acquisition_id":"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}",` +
		`"coordination_root":"` + regexp.QuoteMeta(s.StateRoot) + `"\}$`
	require.Regexp(t, shape, text)
	require.NoError(t, held.Check())
	owner := held.Owner()
	require.Equal(t, text, string(owner.Raw))
	require.EqualValues(t, os.Getpid(), owner.PID)

	at = time.Date(2026, 9, 20, 11, 0, 0, 999, time.UTC)
	require.NoError(t, held.Release())
	require.NoError(t, held.Release(), "twice is fine")
	require.ErrorIs(t, held.Check(), fs.ErrClosed)
	want := strings.Replace(text, `"active":true`, `"active":false`, 1)
	want = strings.TrimSuffix(want, "}") + `,"released_at":"2026-09-20T11:00:00+00:00"}`
	require.Equal(t, want, readFile(t, s.OwnerPath()))

	entries, err := os.ReadDir(s.Directory())
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, filepath.Join(s.Directory(), e.Name()))
	}
	require.Equal(t, []string{s.OwnerPath(), s.LockPath()}, names)
}

// Not parallel: the umask belongs to the process.
func TestModes(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	s := newSession(t, testID)
	held, err := Acquire(t.Context(), s, app)
	require.NoError(t, err)
	defer held.Release()
	key := filepath.Dir(s.Directory())
	for _, dir := range []string{s.Directory(), key, filepath.Dir(key), s.StateRoot} {
		require.Equal(t, fs.ModeDir|0o700, mode(t, dir), dir)
	}
	require.Equal(t, fs.ModeDir|0o755, mode(t, filepath.Dir(s.StateRoot)), "ancestors are as the umask says")
	require.Equal(t, fs.FileMode(0o600), mode(t, s.LockPath()))
	require.Equal(t, fs.FileMode(0o600), mode(t, s.OwnerPath()))
	require.Empty(t, readFile(t, s.LockPath()))
}

func TestBusyInOneProcess(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	held, err := Acquire(t.Context(), s, app)
	require.NoError(t, err)
	text := readFile(t, s.OwnerPath())

	_, err = Acquire(t.Context(), s, Options{App: "other"})
	require.ErrorIs(t, err, ErrBusy)
	require.EqualError(t, err, "shared session is busy")
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, held.Owner(), *busy.Owner)
	require.Equal(t, text, readFile(t, s.OwnerPath()), "nothing is written while another holds")

	require.NoError(t, os.WriteFile(s.OwnerPath(), []byte("{"), 0o600))
	_, err = Acquire(t.Context(), s, app)
	require.ErrorAs(t, err, &busy)
	require.Nil(t, busy.Owner, "the record is unreadable, the lock still decides")

	require.NoError(t, held.Release())
	held, err = Acquire(t.Context(), s, app)
	require.NoError(t, err)
	require.NoError(t, held.Release())
}

func TestBusyBetweenProcesses(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	home := filepath.Dir(s.Workspace)
	busyLine := []string{"shared session is busy"}
	first := testenv.Spawn(t, "holds", home, "")
	require.Equal(t, "held", first.Hear(t))
	require.Equal(t, busyLine, testenv.Spawn(t, "holds", home, "").End(t))
	_, err := Acquire(t.Context(), s, app)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.EqualValues(t, first.PID(), busy.Owner.PID)
	require.Equal(t, "child", busy.Owner.App)

	first.Kill()
	require.Contains(t, readFile(t, s.OwnerPath()), `"active":true`, "a killed owner cannot say that it is gone")
	held, err := Acquire(t.Context(), s, app)
	require.NoError(t, err, "the kernel ends the hold of a killed process")
	require.Equal(t, busyLine, testenv.Spawn(t, "holds", home, "").End(t))
	require.NoError(t, held.Release())
}

func TestBusyWithPython(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	held, err := Acquire(t.Context(), s, app)
	require.NoError(t, err)
	require.Equal(t, []string{"busy"}, testenv.HoldInPython(t, s.LockPath()).End(t))
	require.NoError(t, held.Release())

	holder := testenv.HoldInPython(t, s.LockPath())
	require.Equal(t, "locked", holder.Hear(t))
	_, err = Acquire(t.Context(), s, app)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Nil(t, busy.Owner, "the record of who released it is not shown")
	holder.End(t)
	held, err = Acquire(t.Context(), s, app)
	require.NoError(t, err)
	require.NoError(t, held.Release())
}

func TestAcquireRefusesUnsafeState(t *testing.T) {
	t.Parallel()
	key := func(s Session) string { return filepath.Dir(s.Directory()) }
	chmod := func(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }
	toLink := func(path string) error {
		if err := os.Rename(path, path+".real"); err != nil {
			return err
		}
		return os.Symlink(path+".real", path)
	}
	tests := []struct {
		name, want string
		damage     func(Session) error
	}{
		{"root of the group", "state directory sessions has unsafe permissions", func(s Session) error { return chmod(s.StateRoot, 0o710) }},
		{"v1 for all", "state directory v1 has unsafe permissions", func(s Session) error { return chmod(filepath.Dir(key(s)), 0o701) }},
		{"id for all", "state directory " + testID + " has unsafe permissions", func(s Session) error { return chmod(s.Directory(), 0o755) }},
		{"root is a link", "state directory sessions is not a safe directory", func(s Session) error { return toLink(s.StateRoot) }},
		{"id is a link", "state directory " + testID + " is not a safe directory", func(s Session) error { return toLink(s.Directory()) }},
		{"v1 is a file", "state directory v1 is not a safe directory", func(s Session) error {
			if err := os.RemoveAll(filepath.Dir(key(s))); err != nil {
				return err
			}
			return os.WriteFile(filepath.Dir(key(s)), nil, 0o600)
		}},
		{"lock for all", "state file session.lock has unsafe permissions", func(s Session) error { return chmod(s.LockPath(), 0o644) }},
		{"lock is a link", "state file session.lock is not a safe regular file", func(s Session) error { return toLink(s.LockPath()) }},
		{"owner for all", "state file owner.json has unsafe permissions", func(s Session) error { return chmod(s.OwnerPath(), 0o640) }},
		{"owner is a directory", "state file owner.json is not a safe regular file", func(s Session) error {
			if err := os.Remove(s.OwnerPath()); err != nil {
				return err
			}
			return os.Mkdir(s.OwnerPath(), 0o700)
		}},
		{"checkpoint is a pipe", "state file checkpoint.json is not a safe regular file", func(s Session) error { return syscall.Mkfifo(s.CheckpointPath(), 0o600) }},
		{"native root is a link", "native session transfer directory is unsafe", func(s Session) error {
			if err := os.Mkdir(s.NativeRoot, 0o755); err != nil {
				return err
			}
			return toLink(s.NativeRoot)
		}},
		{"native directory is a file", "native session transfer directory is unsafe", func(s Session) error {
			if err := os.MkdirAll(filepath.Dir(s.NativeDirectory()), 0o755); err != nil {
				return err
			}
			return os.WriteFile(s.NativeDirectory(), nil, 0o600)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, testID)
			held, err := Acquire(t.Context(), s, app)
			require.NoError(t, err)
			require.NoError(t, held.Release())
			require.NoError(t, tt.damage(s))
			_, err = Acquire(t.Context(), s, app)
			require.ErrorIs(t, err, ErrUnsafe)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestAcquireRefusesForeignState(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Getuid() == 0, "only root can give files away")
	tests := []struct {
		name, want string
		path       func(Session) string
	}{
		{"directory", "state directory " + testID + " is not owned by this user", Session.Directory},
		{"lock", "state file session.lock is not owned by this user", Session.LockPath},
		{"native root", "native session transfer directory is unsafe", func(s Session) string { return s.NativeRoot }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, testID)
			held, err := Acquire(t.Context(), s, app)
			require.NoError(t, err)
			require.NoError(t, held.Release())
			require.NoError(t, os.MkdirAll(s.NativeDirectory(), 0o755))
			require.NoError(t, os.Lchown(tt.path(s), 12345, -1))
			_, err = Acquire(t.Context(), s, app)
			require.ErrorIs(t, err, ErrUnsafe)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestAcquireRefusesArguments(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	for _, name := range []string{"", strings.Repeat("\u00e9", 257)} {
		_, err := Acquire(t.Context(), s, Options{App: name})
		require.ErrorIs(t, err, ErrInvalid)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Acquire(ctx, s, app)
	require.ErrorIs(t, err, context.Canceled)
	require.NoDirExists(t, s.StateRoot, "nothing is made for what is refused")

	held, err := Acquire(t.Context(), s, Options{App: strings.Repeat("\u00e9", 256)})
	require.NoError(t, err)
	require.NoError(t, held.Release())
}

func TestFenceAppearsWhileHeld(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	held, err := Acquire(t.Context(), s, app)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.CheckpointPath(), []byte("{}"), 0o600))
	require.NoError(t, os.MkdirAll(s.NativeDirectory(), 0o755))
	require.NoError(t, held.Check())
	fence := `{"version":1,"session_id":"` + testID + `","transfer_id":"t","destination_host":"h","role":"source","phase":"staged"}`
	require.NoError(t, os.WriteFile(s.FencePath(), []byte(fence), 0o600))
	require.ErrorIs(t, held.Check(), ErrFenced)
	require.ErrorIs(t, held.RemoveCheckpoint(), ErrFenced)
	require.FileExists(t, s.CheckpointPath())

	require.NoError(t, os.Remove(s.FencePath()))
	require.NoError(t, held.RemoveCheckpoint())
	require.NoFileExists(t, s.CheckpointPath())
	require.NoError(t, held.RemoveCheckpoint(), "a missing one is no error")
	require.NoError(t, held.Release())
	require.ErrorIs(t, held.RemoveCheckpoint(), fs.ErrClosed)
}

func TestReleaseDropsTheLockWhateverHappens(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	held, err := Acquire(t.Context(), s, app)
	require.NoError(t, err)
	require.NoError(t, os.Remove(s.OwnerPath()))
	require.NoError(t, os.MkdirAll(filepath.Join(s.OwnerPath(), "x"), 0o700), "a record that cannot be replaced")
	require.Error(t, held.Release())
	require.NoError(t, os.RemoveAll(s.OwnerPath()))
	held, err = Acquire(t.Context(), s, app)
	require.NoError(t, err)
	require.NoError(t, held.Release())
}
