package watch

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// patience is how long a test waits for what should happen at once.
const patience = time.Minute

// driven is a watcher whose loop the test runs: no look happens by itself.
type driven struct {
	*Watcher
	*poller
	loop *loop
	now  time.Time // of the turns
}

// drive begins to watch these sessions, of which the system watches no more
// than room. Each has a transcript and metadata.
func drive(t *testing.T, room int, ids ...string) *driven {
	t.Helper()
	base := openBase(t)
	testenv.Need(t, vfs.IsLocalAt(base.Path()), "the folder for tests is on no local file system")
	for _, id := range ids {
		makeSession(t, filepath.Join(base.Path(), id))
	}
	events, err := NewNotifier()
	require.NoError(t, err)
	w, p := prepare(t.Context(), base, slog.New(slog.DiscardHandler), events)
	t.Cleanup(func() { require.NoError(t, w.abandon(p, nil)) })
	p.dirs.recent.limit = min(room, p.dirs.recent.limit)
	require.NoError(t, p.begin(t.Context()))
	w.pending = pending{}
	return &driven{w, p, newLoop(p), time.Now()}
}

func makeSession(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{sessiondir.Transcript, sessiondir.Metadata} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("first"), 0o600))
	}
}

func (d *driven) path(names ...string) string {
	return filepath.Join(append([]string{d.base.Path()}, names...)...)
}

// turn gives each session a turn.
func (d *driven) turn() {
	d.now = d.now.Add(pollPeriod)
	d.pollDue(d.now)
}

// settle gives turns until all that the sessions have is settled by the clock
// of the file system.
func (d *driven) settle(t *testing.T) {
	t.Helper()
	settled := func() bool {
		for _, s := range d.sessions {
			if !s.dir.settled || slices.ContainsFunc(s.files[:], func(f seen) bool { return !f.settled }) {
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(patience); !settled(); d.turn() {
		require.True(t, time.Now().Before(end))
		time.Sleep(time.Millisecond)
	}
	d.pending = pending{}
}

// rests requires that the session rests once all is settled.
func (d *driven) rests(t *testing.T, id string) {
	t.Helper()
	d.settle(t)
	d.turn() // which has it watched anew, if it has to be
	require.True(t, d.resting(id))
}

func (d *driven) resting(id string) bool {
	s := d.sessions[id]
	return s != nil && s.rest > 0 && d.dirs.watched(id)
}

// hear receives events until one is of path, and looks where they point.
func (d *driven) hear(t *testing.T, path string) {
	t.Helper()
	for timeout := time.After(patience); ; {
		select {
		case e := <-d.dirs.events.Events():
			d.loop.onEvent(e)
			if e.Path == path {
				d.loop.pollTouched()
				return
			}
		case <-timeout:
			require.FailNow(t, "no event", path)
		}
	}
}

// change writes to the file at path in place.
func change(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(", next")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func wrote(id string) Change { return Change{ID: id, File: sessiondir.Metadata, Op: Wrote} }

// TestRestingSession: of a session whose directory is watched, a change in place is
// seen by its event, without a turn. What has no event is seen after a minute of turns.
func TestRestingSession(t *testing.T) {
	t.Parallel()
	d := drive(t, maxDirs, "a")
	d.rests(t, "a")
	change(t, d.path("a", sessiondir.Metadata))
	d.hear(t, d.path("a", sessiondir.Metadata))
	require.True(t, d.Waits(wrote("a")))

	d.rests(t, "a")
	other := filepath.Join(t.TempDir(), "other name")
	require.NoError(t, os.Link(d.path("a", sessiondir.Metadata), other))
	change(t, other)
	d.sessions["a"].rest = restTurns
	for range restTurns {
		d.turn()
		require.False(t, d.Waits(wrote("a")), "a session that rests was looked at")
	}
	d.turn()
	require.True(t, d.Waits(wrote("a")))
	require.Equal(t, 0, d.sessions["a"].rest, "there is another name now")
	require.LessOrEqual(t, time.Duration(restTurns)*pollPeriod, time.Minute)
}

// TestTold: a session rests where events tell all, and a change within one step of
// the file system's clock shows in a state.
func TestTold(t *testing.T) {
	t.Parallel()
	d := drive(t, maxDirs, "a")
	d.rests(t, "a")
	s := *d.sessions["a"]
	require.True(t, s.hasEvents(d.path("a")))
	require.False(t, s.hasEvents("/proc"), "on no local file system")
	require.False(t, s.hasEvents(d.path("nothing")))
	s.files[1].settled = false
	require.False(t, s.hasEvents(d.path("a")))
	s = *d.sessions["a"]
	s.dir.settled = false
	require.False(t, s.hasEvents(d.path("a")))
}

// TestMoreSessionsThanWatches: beyond the limit each session is looked at in
// each of its turns, and the one that changed last takes a watch over.
func TestMoreSessionsThanWatches(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 1} {
		d := drive(t, room, "a", "b")
		d.settle(t)
		change(t, d.path("b", sessiondir.Metadata))
		d.poll("b", allFiles) // so that it has the watch
		for range 3 {
			for _, id := range []string{"a", "b"} {
				d.settle(t)
				require.False(t, d.resting(id))
				change(t, d.path(id, sessiondir.Metadata))
				d.turn()
				require.True(t, d.Waits(wrote(id)))
				require.Equal(t, room == 1, d.dirs.watched(id))
				d.settle(t)
				require.Equal(t, room == 1, d.resting(id))
				require.Len(t, d.dirs.dirs, room)
				require.Len(t, d.dirs.owners, room)
			}
		}
	}
}

// TestLostEventsOfRestingSessions: after events were lost, all have their next
// turn, and are watched anew.
func TestLostEventsOfRestingSessions(t *testing.T) {
	t.Parallel()
	d := drive(t, maxDirs, "a", "b")
	d.rests(t, "a")
	d.rests(t, "b")
	change(t, d.path("a", sessiondir.Metadata)) // nobody receives that
	d.loop.onEvent(Event{})
	require.True(t, d.Waits(Change{Op: Rescan}))
	d.pending = pending{}
	d.pollTop()
	require.Empty(t, d.dirs.dirs)
	d.turn()
	require.True(t, d.Waits(wrote("a")))
	d.rests(t, "a")
	d.rests(t, "b")
}

// TestFilesWithOtherNames are looked at in each turn: a write by the other name
// has no event here.
func TestFilesWithOtherNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(file, other string) error
	}{
		{"symlink", func(file, other string) error {
			if err := os.Rename(file, other); err != nil {
				return err
			}
			return os.Symlink(other, file)
		}},
		{"hard link", func(file, other string) error {
			if err := os.Rename(file, other); err != nil {
				return err
			}
			return os.Link(other, file)
		}},
		{"symlink to nothing", func(file, other string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Symlink(other, file)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := drive(t, maxDirs, "a")
			d.rests(t, "a")
			file, other := d.path("a", sessiondir.Metadata), filepath.Join(t.TempDir(), "other")
			require.NoError(t, tt.make(file, other))
			d.hear(t, file)
			for _, content := range []string{"second", "third time"} {
				d.settle(t)
				for range firstLooks + 1 {
					d.turn()
				}
				require.False(t, d.resting("a"))
				require.NoError(t, os.WriteFile(other, []byte(content), 0o600))
				d.turn()
				require.True(t, d.Waits(wrote("a")))
			}
		})
	}
}

// TestSymlinkedSession has turns as ever: the symlink's target may move.
func TestSymlinkedSession(t *testing.T) {
	t.Parallel()
	d := drive(t, maxDirs, "a")
	target := filepath.Join(t.TempDir(), "target")
	makeSession(t, target)
	require.NoError(t, os.Symlink(target, d.path("b")))
	d.hear(t, d.path("b"))
	d.rests(t, "a")
	require.False(t, d.resting("b"))
	require.NoError(t, os.Rename(target, target+".away"))
	makeSession(t, target)
	d.turn()
	require.True(t, d.Waits(Change{ID: "b", Op: Wrote}))
}

// TestReplacedDirectoryOfSession: the watch moves to the directory that has the
// name, and a session that was renamed is watched under the name it has.
func TestReplacedDirectoryOfSession(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, id string // id: the session that has a directory now
		change   func(t *testing.T, d *driven)
	}{
		{"another in its place", "a", func(t *testing.T, d *driven) {
			next := filepath.Join(t.TempDir(), "next")
			makeSession(t, next)
			require.NoError(t, os.Rename(d.path("a"), next+".away"))
			require.NoError(t, os.Rename(next, d.path("a")))
		}},
		{"made anew", "a", func(t *testing.T, d *driven) {
			require.NoError(t, os.RemoveAll(d.path("a")))
			makeSession(t, d.path("a"))
		}},
		{"to the trash and back", "a", func(t *testing.T, d *driven) {
			require.NoError(t, os.Rename(d.path("a"), d.path(".trash")))
			d.hear(t, d.path("a"))
			require.True(t, d.Waits(Change{ID: "a", Op: Removed}))
			require.Empty(t, d.dirs.dirs)
			require.NoError(t, os.Rename(d.path(".trash"), d.path("a")))
		}},
		{"renamed", "b", func(t *testing.T, d *driven) {
			require.NoError(t, os.Rename(d.path("a"), d.path("b")))
		}},
		{"renamed, and seen before its events", "b", func(t *testing.T, d *driven) {
			require.NoError(t, os.Rename(d.path("a"), d.path("b")))
			d.poll("b", dueFiles)
			require.False(t, d.dirs.watched("b"), "its events would come with the old name")
			d.hear(t, d.path("a"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := drive(t, maxDirs, "a")
			d.rests(t, "a")
			tt.change(t, d)
			d.hear(t, d.path(tt.id))
			d.rests(t, tt.id)
			require.Len(t, d.dirs.dirs, 1)
			require.Len(t, d.dirs.owners, 1)
			change(t, d.path(tt.id, sessiondir.Metadata))
			d.hear(t, d.path(tt.id, sessiondir.Metadata))
			require.True(t, d.Waits(wrote(tt.id)))
		})
	}
}

// TestReplacedSessionsDirectory: the sessions of the same names in the directory
// that took the place are looked at in their next turn, and watched.
func TestReplacedSessionsDirectory(t *testing.T) {
	t.Parallel()
	d := drive(t, maxDirs, "a")
	d.rests(t, "a")
	require.NoError(t, os.Rename(d.path(), d.path()+".away"))
	require.NoError(t, os.Mkdir(d.path(), 0o700))
	makeSession(t, d.path("a"))
	d.pollTop()
	d.pending = pending{}
	d.turn()
	require.True(t, d.Waits(wrote("a")))
	d.rests(t, "a")
	change(t, d.path("a", sessiondir.Metadata))
	d.hear(t, d.path("a", sessiondir.Metadata))
	require.True(t, d.Waits(wrote("a")))
}
