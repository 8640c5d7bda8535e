package hybrid

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// computer returns a machine with an id of the system and a name.
func computer(id, host string) machine {
	return machine{host, func() (string, error) { return id, nil }}
}

// on opens a directory on a machine, as whatever device it is there.
func (c *cloud) on(t *testing.T, m machine, dir string, hooks *seam.Seam) *testDevice {
	t.Helper()
	s, err := openOn(t.Context(), m, dir, &Options{
		Store: &sessionstore.Options{Durability: sessionstore.Relaxed}, Remote: cosmos.New(c.container), Project: "demo", User: "ada", Manual: true,
	}, hooks)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	return &testDevice{s, t}
}

// deviceOn returns which device a directory is on a machine.
func (c *cloud) deviceOn(t *testing.T, m machine, dir string) string {
	t.Helper()
	d := c.on(t, m, dir, nil)
	defer requireClosed(t, d.Store)
	return d.engine.Device.ID
}

// TestDevices: a device is a directory on a machine, whatever the machine is called.
func TestDevices(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("AMPLIFIER_HOME", home)
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	first := c.deviceOn(t, computer("m1", "laptop"), dir)
	require.Len(t, first, 8)
	require.Equal(t, first, c.deviceOn(t, computer("m1\n", "laptop.hotel.example"), dir))
	other := c.deviceOn(t, computer("m2", "laptop"), dir)
	require.NotEqual(t, first, other)
	require.NotEqual(t, first, c.deviceOn(t, computer("m1", "laptop"), filepath.Join(t.TempDir(), "sessions")))

	copied := filepath.Join(t.TempDir(), "sessions")
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	require.NotContains(t, []string{first, other}, c.deviceOn(t, computer("m1", "laptop"), copied))

	container := c.deviceOn(t, computer("", "0b5cf2"), dir)
	require.NotContains(t, []string{first, other}, container)
	for _, id := range []string{"", "\n", "uninitialized\n", "00000000000000000000000000000000\n"} {
		require.Equal(t, container, c.deviceOn(t, computer(id, "77ae01"), dir))
	}
	require.Equal(t, []string{first, other}, []string{c.deviceOn(t, computer("m1", "x"), dir), c.deviceOn(t, computer("m2", "x"), dir)})

	broken := machine{"laptop", func() (string, error) { return "", syscall.EIO }}
	_, err := openOn(t.Context(), broken, dir, &Options{Remote: cosmos.New(c.container), Project: "demo"}, nil)
	require.ErrorIs(t, err, syscall.EIO, "it may be a machine that has a line")
	named, err := openOn(t.Context(), broken, dir, &Options{Remote: cosmos.New(c.container), Project: "demo", Device: "a", Manual: true}, nil)
	require.NoError(t, err)
	require.Equal(t, shortID("a"), named.engine.Device.ID)
	requireClosed(t, named)
	require.NoDirExists(t, home)
}

// TestDevicesOfOneMachineAtOnce opens a fresh directory several times at once.
func TestDevicesOfOneMachineAtOnce(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	var got [8]string
	var work sync.WaitGroup
	for i := range got {
		work.Go(func() {
			s, err := openOn(t.Context(), computer([]string{"m1", "m2"}[i%2], "laptop"), dir, &Options{Remote: cosmos.New(c.container), Project: "demo", Manual: true}, nil)
			if err == nil {
				got[i], err = s.engine.Device.ID, s.Close()
			}
			if err != nil {
				got[i] = err.Error()
			}
		})
	}
	work.Wait()
	for i := range got {
		require.Len(t, got[i], 8)
		require.Equal(t, got[i%2], got[i])
	}
	require.NotEqual(t, got[0], got[1])
}

// TestHostNameChanges: after the name of the host changed, a session that was removed stays
// away, a rewind that was not sent is sent, and no log is sent again.
func TestHostNameChanges(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	a := c.on(t, computer("m", "laptop"), dir, nil)
	a.say("removed", "one")
	a.say("rewound", "one", "two", "a secret", "four")
	a.say("logs", "one")
	a.put("logs", "events.jsonl", strings.Repeat(`{"event":"x","data":"`+noise(200)+"\"}\n", 1000))
	a.sync()
	require.NoError(t, a.Delete(t.Context(), "removed"))
	a.sync()
	a.cutTo("rewound", 2)
	requireClosed(t, a.Store)
	a = c.on(t, computer("m", "laptop.hotel.example"), dir, nil)
	a.pull()
	require.False(t, a.Exists("removed"))
	require.Equal(t, 1, a.sync().Pushed)
	require.Equal(t, []string{"one", "two"}, a.texts("rewound"))
	a.say("logs", "two")
	require.Less(t, a.sync().Bytes, int64(4096))
	require.Len(t, c.headOf(t, a.engine.SID("logs")).Logs, 1)
}

// TestDamagedDevices: which device this is is never guessed. A name and a store without the
// cloud need no file.
func TestDamagedDevices(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	was := c.deviceOn(t, computer("m", "laptop"), dir)
	file := filepath.Join(dir, ".sessionstore", "devices", "machines")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, text := range []string{"", "\n", string(whole[:len(whole)-1]), string(whole) + "x", strings.Replace(string(whole), was, "00000000", 1)} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := openOn(t.Context(), computer("m", "laptop"), dir, &Options{Remote: cosmos.New(c.container), Project: "demo"}, nil)
		require.ErrorContains(t, err, file)
		require.ErrorContains(t, err, "Options.Device")
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(now))
		requireClosed(t, c.deviceAt(t, dir, "named").Store)
		s, err := Open(t.Context(), dir, nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	require.Equal(t, was, c.deviceOn(t, computer("m", "laptop"), dir))
}

// TestReadOnlyHome: where nothing can be recorded, a machine is the same device each time,
// whatever it is called, and so it is afterwards if it sent something meanwhile.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	for _, sends := range []bool{false, true} {
		c := newCloud(t, nil)
		dir := filepath.Join(t.TempDir(), "sessions")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		refuse := &seam.Seam{Before: func(op seam.Op) error {
			if filepath.Base(op.Dir) == devicesDir || op.Name == devicesDir {
				return syscall.EROFS
			}
			return nil
		}}
		e := &ear{}
		s, err := openOn(t.Context(), computer("m", "laptop"), dir, &Options{
			Remote: cosmos.New(c.container), Project: "demo", User: "ada", Manual: true, Logger: slog.New(slog.NewTextHandler(e, nil)),
		}, refuse)
		require.NoError(t, err)
		require.Contains(t, e.String(), "not remembered")
		a := &testDevice{s, t}
		if sends {
			a.say("s", "one")
			a.sync()
		}
		was := a.engine.Device.ID
		requireClosed(t, s)
		a = c.on(t, computer("m", "laptop.hotel.example"), dir, refuse)
		require.Equal(t, was, a.engine.Device.ID)
		requireClosed(t, a.Store)
		now := c.deviceOn(t, computer("m", "laptop"), dir)
		require.Equal(t, sends, now == was)
		require.Equal(t, now, c.on(t, computer("m", "laptop"), dir, refuse).engine.Device.ID)
	}
}

// TestClonedMachine: two machines with one id, each with a copy of the sessions at the same
// path, are one device. Nothing of either is lost in the cloud.
func TestClonedMachine(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	top := t.TempDir()
	dir, aside := filepath.Join(top, "sessions"), filepath.Join(top, "aside")
	event := func(text string) string { return `{"event":"` + text + `"}` + "\n" }
	a := c.on(t, computer("m", "laptop"), dir, nil)
	a.say("s", "one", "two")
	a.put("s", "events.jsonl", event("first"))
	a.sync()
	requireClosed(t, a.Store)
	require.NoError(t, os.CopyFS(aside, os.DirFS(dir)))
	forget := filepath.Join(top, "swap")
	for round := range 3 {
		for _, name := range []string{"a", "b"} {
			mark := fmt.Sprint(name, round)
			d := c.on(t, computer("m", name), dir, nil)
			d.say("s", "text of "+mark, "answer")
			d.say("own-"+mark, "text of "+mark)
			d.appendTo("s", "events.jsonl", event(mark))
			d.sync()
			d.sync()
			requireClosed(t, d.Store)
			require.NoError(t, os.Rename(dir, forget))
			require.NoError(t, os.Rename(aside, dir))
			require.NoError(t, os.Rename(forget, aside))
		}
	}
	all := c.plain(t)
	reader := c.device(t, "reader")
	reader.pull()
	var texts []string
	for _, id := range reader.ids() {
		texts = append(texts, reader.texts(id)...)
	}
	for round := range 3 {
		for _, name := range []string{"a", "b"} {
			require.Contains(testenv.Lost(t), all, fmt.Sprintf("text of %s%d", name, round))
			require.Contains(testenv.Lost(t), all, event(fmt.Sprint(name, round)))
			require.Contains(testenv.Lost(t), texts, fmt.Sprintf("text of %s%d", name, round))
		}
	}
}

// TestWhatAHeadTells: the head of a session names its user, its project, and the host and device
// that wrote it, also after a removal; the machine-id stays here.
func TestWhatAHeadTells(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.on(t, computer("machine-id-0123", "adas-laptop"), filepath.Join(t.TempDir(), "sessions"), nil)
	a.say("s", "one")
	a.sync()
	tells := []string{"adas-laptop", "ada", "demo", a.engine.Device.ID, `"s"`}
	c.requirePlain(t, append(tells, "one"), []string{"machine-id-0123"})
	require.NoError(t, a.Remove(t.Context(), "s"))
	c.requirePlain(t, tells, []string{"machine-id-0123", "one"})
}
