package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// manySessions is how many sessions the tests of costs have.
func manySessions() int { return testenv.Share(300, 300, testenv.Further(2_000, 10_000)) }

func nth(i int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", i) }

// makeSessions makes sessions as another tool does, each with a transcript, metadata,
// events, and a newer log that names no parent.
func makeSessions(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		at := filepath.Join(dir, nth(i))
		require.NoError(t, os.MkdirAll(at, 0o700))
		for name, text := range map[string]string{
			"transcript.jsonl": `{"role": "user", "content": "hello"}` + "\n" + `{"role": "assistant", "content": "hi"}` + "\n",
			"metadata.json":    `{"session_id": "` + nth(i) + `", "name": "a name of a session"}`,
			"events.jsonl":     `{"event": "start"}` + "\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte(text), 0o600))
		}
		describe(t, at, `{"parent_id": ""}`)
	}
}

// opens counts the opens of files of sessions.
type opens struct {
	t  testing.TB
	fd int
}

// watchOpens watches the directories of sessions. It skips the test where the system
// has no watches for so many.
func watchOpens(t testing.TB, dir string, n int) *opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Close(fd)) })
	for i := range n {
		if _, err := unix.InotifyAddWatch(fd, filepath.Join(dir, nth(i)), unix.IN_OPEN); err != nil {
			t.Skip("too few watches on this system: ", err)
		}
	}
	o := &opens{t, fd}
	o.take()
	return o
}

// take returns how many sessions had a file opened since it was last called.
func (o *opens) take() int {
	buf := make([]byte, 1<<16)
	sessions := map[int32]bool{}
	for {
		n, err := unix.Read(o.fd, buf)
		if err != nil || n <= 0 {
			return len(sessions)
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			length := int(uint32(rest[12]) | uint32(rest[13])<<8)
			watch := int32(uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16 | uint32(rest[3])<<24)
			mask := uint32(rest[4]) | uint32(rest[5])<<8 | uint32(rest[6])<<16 | uint32(rest[7])<<24
			require.Zero(o.t, mask&unix.IN_Q_OVERFLOW, "too many opens to be counted")
			if length > 0 { // else it is the directory
				sessions[watch] = true
			}
			rest = rest[unix.SizeofInotifyEvent+length:]
		}
	}
}

// counting opens a store of device a and counts its stats of files of sessions,
// but for the one of each directory in a listing.
func (c *cloud) counting(t testing.TB, dir string, stats *atomic.Int64, edit ...func(*Options)) *Store {
	t.Helper()
	o := &Options{Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "a", Background: Background{Interval: time.Hour}, Manual: true}
	for _, e := range edit {
		e(o)
	}
	s, err := open(t.Context(), dir, o, nil, func(e *engine) {
		e.Stats.Files = &countedFiles{Files: e.Stats.Files, stats: stats}
	})
	require.NoError(t, err)
	return s
}

// countedFiles counts the stats of files.
type countedFiles struct {
	replica.Files
	stats *atomic.Int64
}

func (c *countedFiles) Stat(id, name string) (sessiondir.Stamp, bool, error) {
	c.stats.Add(1)
	return c.Files.Stat(id, name)
}

// TestCostOfManySessions counts what it costs to have sessions that are in step:
// requests, units, stats and sessions of which a file is opened.
func TestCostOfManySessions(t *testing.T) {
	t.Parallel()
	n := manySessions()
	dir := filepath.Join(t.TempDir(), "sessions")
	makeSessions(t, dir, n)
	if f, err := os.Open(dir); err == nil {
		local := vfs.IsLocal(f)
		require.NoError(t, f.Close())
		if !local {
			t.Skip("on this file system every file is asked for")
		}
	}
	c := newCloud(t, nil)
	var stats atomic.Int64
	s := c.counting(t, dir, &stats)
	(&testDevice{s, t}).sync()
	time.Sleep(replica.SettleTime + time.Second) // for the last ones it was not sure
	(&testDevice{s, t}).sync()
	require.NoError(t, s.Close())
	watched := watchOpens(t, dir, n)
	step := func(name string, requests int, perSession, units float64, sessionsOpened int, do func()) {
		t.Helper()
		c.ResetCounters()
		stats.Store(0)
		do()
		total := c.Counters().Total
		opened := watched.take()
		t.Logf("%-24s %3d requests %8.1f units %6d stats %4d sessions opened", name, total.Requests, total.Charge, stats.Load(), opened)
		require.LessOrEqual(t, total.Requests, requests, name)
		require.LessOrEqual(t, total.Charge, units, name)
		require.LessOrEqual(t, float64(stats.Load()), perSession*float64(n)+replica.StatsAtLeast/3+9*float64(sessionsOpened), name)
		require.LessOrEqual(t, opened, sessionsOpened, name)
	}
	const look = 10 // units; and what was written in the last second is read again
	lastSecond := 0.25 * float64(n)

	var held *Store
	step("open", 0, 0, 0, 0, func() {
		held = c.counting(t, dir, &stats)
		require.Zero(t, stats.Load())
	})
	require.NoError(t, held.Close())
	step("open and close", 3, 2, look+lastSecond, 0, func() { require.NoError(t, c.counting(t, dir, &stats, background).Close()) })
	step("a background pass", 3, 2, look+lastSecond, 0, func() {
		s := c.counting(t, dir, &stats, background)
		require.Eventually(t, func() bool {
			s.worker.mu.Lock()
			defer s.worker.mu.Unlock()
			return s.worker.polled
		}, time.Minute, time.Millisecond)
		require.NoError(t, s.Close())
	})
	step("open and shut down", 3, 4, look+lastSecond, 0, func() { // two passes
		require.NoError(t, c.counting(t, dir, &stats, background).Shutdown(t.Context()))
	})
	s = c.counting(t, dir, &stats)
	r := &testDevice{s, t}
	for range 2 {
		step("sync without a change", 10, 2, look+askedEach+lastSecond, askedEach, func() {
			require.Equal(t, n, r.sync().Sessions)
		})
	}
	step("status", 0, 2, 0, 0, func() {
		all, err := r.Status(t.Context())
		require.NoError(t, err)
		require.Len(t, all, n)
		for _, one := range all {
			require.Equal(t, UpToDate, one.State)
		}
	})
	for range 2 {
		step("remote", 2, 0, look+lastSecond, 0, func() {
			all, err := r.Remote(t.Context())
			require.NoError(t, err)
			require.Len(t, all, n)
			require.Equal(t, "a name of a session", all[0].Name)
		})
	}
	step("pull without a change", 2, 0, look+lastSecond, 0, func() { require.Zero(t, r.pull().Sessions) })

	before, err := os.Stat(filepath.Join(dir, nth(n/2)))
	require.NoError(t, err)
	r.appendTo(nth(n/2), "events.jsonl", "{\"event\": \"more\"}\n")
	after, err := os.Stat(filepath.Join(dir, nth(n/2)))
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())
	watched.take()
	step("sync of an event", 10, 2, look+askedEach+40+lastSecond, askedEach+1, func() { require.Equal(t, 1, r.sync().Pushed) })
	require.NoError(t, s.Close())

	b := c.device(t, "b")
	step("first list of a device", max(3, n/2000), 0, 0.5*float64(n), 0, func() {
		all, err := b.Remote(t.Context())
		require.NoError(t, err)
		require.Len(t, all, n)
	})
	c.ResetCounters()
	known := c.device(t, "k", background, func(o *Options) { o.Background.KnownOnly = true })
	require.Eventually(t, func() bool { return known.engine.Table.Cursor().Whole }, time.Minute, time.Millisecond)
	require.LessOrEqual(t, c.Counters().Total.Charge, 0.5*float64(n), "the first look of a device")
}

// TestChangesInPlaceAreFound changes files in place which a scan has no room to ask
// for each time. A few scans find each.
func TestChangesInPlaceAreFound(t *testing.T) {
	t.Parallel()
	const n = 300 // of 3 files each; there is room for 600 stats of files
	dir := filepath.Join(t.TempDir(), "sessions")
	makeSessions(t, dir, n)
	c := newCloud(t, nil)
	var stats atomic.Int64
	s := c.counting(t, dir, &stats)
	defer func() { require.NoError(t, s.Close()) }()
	r := &testDevice{s, t}
	r.sync()
	time.Sleep(replica.SettleTime + time.Second)
	r.sync()
	for _, i := range []int{1, n / 2, n - 2} {
		for name, text := range map[string]string{
			"metadata.json":    fmt.Sprintf(`{"session_id": %q, "name": "written in place"}`, nth(i)),
			"transcript.jsonl": `{"role": "user", "content": "written in place"}` + "\n",
			"events.jsonl":     `{"event": "start"}` + "\n" + `{"event": "more"}` + "\n",
		} {
			r.put(nth(i), name, text)
			scans, found := 0, false
			for ; !found && scans < 6; scans++ {
				f, err := s.engine.scanAll(t.Context())
				require.NoError(t, err)
				found = f.changed[nth(i)]
			}
			require.True(t, found, "%s of session %d", name, i)
			if name == "events.jsonl" {
				require.Equal(t, 1, scans)
			}
			require.Equal(t, 1, r.sync(nth(i)).Pushed)
		}
	}
}

// TestChangesThatHide are changes that are seen by nothing but one of the stamps.
func TestChangesThatHide(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	makeSessions(t, dir, 10) // more than are asked for one by one
	var stats atomic.Int64
	s := c.counting(t, dir, &stats)
	defer func() { require.NoError(t, s.Close()) }()
	r := &testDevice{s, t}
	settle := func() {
		r.sync()
		time.Sleep(replica.SettleTime + 100*time.Millisecond)
		r.sync()
		require.Zero(t, r.sync().Pushed)
	}
	settle()
	id := nth(3)
	path := func(name string) string { return filepath.Join(dir, id, name) }
	for name, change := range map[string]func(t *testing.T){
		"the same size, at once after a sync": func(t *testing.T) {
			require.NoError(t, os.WriteFile(path("config.md"), []byte("one"), 0o600))
			r.sync()
			require.NoError(t, os.WriteFile(path("config.md"), []byte("two"), 0o600))
		},
		"an old time, as from a backup": func(t *testing.T) {
			old := time.Now().Add(-1000 * time.Hour)
			require.NoError(t, os.WriteFile(path("state.json"), []byte("{}"), 0o600))
			require.NoError(t, os.Chtimes(path("state.json"), old, old))
			require.NoError(t, os.Chtimes(filepath.Join(dir, id), old, old))
		},
		"the time that it had": func(t *testing.T) {
			fi, err := os.Stat(path("metadata.json"))
			require.NoError(t, err)
			text := strings.Replace(r.file(id, "metadata.json"), "name of", "nome of", 1)
			require.NoError(t, os.WriteFile(path("metadata.json"), []byte(text), 0o600))
			require.NoError(t, os.Chtimes(path("metadata.json"), fi.ModTime(), fi.ModTime()))
		},
		"a time to come": func(t *testing.T) {
			late := time.Now().Add(1000 * time.Hour)
			r.appendTo(id, "events.jsonl", "{}\n")
			require.NoError(t, os.Chtimes(path("events.jsonl"), late, late))
			r.sync()
			r.appendTo(id, "events.jsonl", "{}\n")
			require.NoError(t, os.Chtimes(path("events.jsonl"), late, late))
		},
	} {
		t.Run(name, func(t *testing.T) {
			settle()
			change(t)
			require.Equal(t, 1, r.sync().Pushed)
			require.Zero(t, r.sync().Pushed)
		})
	}
}

// TestReadGoesOn breaks off the first read of a catalogue of several pages, of which
// all entries were written in one second or in many. The next process goes on.
func TestReadGoesOn(t *testing.T) {
	t.Parallel()
	const n, rows = 60, 10
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	makeSessions(t, dir, n)
	var stats atomic.Int64
	s := c.counting(t, dir, &stats)
	(&testDevice{s, t}).sync()
	require.NoError(t, s.Close())
	there := filepath.Join(t.TempDir(), "there", "sessions")
	answered := 0
	limit := func(left int) func(cosmostest.Request) cosmostest.Fault {
		return cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if left == 0 {
				return cosmostest.Refuse(403, 0)
			}
			left--
			answered++
			return cosmostest.Fault{Page: rows}
		})
	}
	found, tries := 0, 0
	for ; found < n && tries < 20; tries++ {
		c.Inject(limit(3))
		b := c.counting(t, there, &stats, func(o *Options) { o.Device = "b" })
		all, _ := b.Remote(t.Context())
		require.GreaterOrEqual(t, len(all), found)
		found = len(all)
		require.NoError(t, b.Close())
	}
	require.Equal(t, n, found)
	require.Greater(t, tries, 1)
	require.LessOrEqual(t, answered, n/rows+2*tries+2)
}

// TestAnotherCatalogue gives a device another container of the same name, or one
// that lost what was written last. All sessions are compared anew.
func TestAnotherCatalogue(t *testing.T) {
	t.Parallel()
	c, other := newCloud(t, nil), newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	const n = 2 * askedEach
	makeSessions(t, dir, n)
	var stats atomic.Int64
	s := c.counting(t, dir, &stats)
	(&testDevice{s, t}).sync()
	require.NoError(t, s.Close())
	busy := filepath.Join(t.TempDir(), "sessions") // that of others, which is as old
	makeSessions(t, busy, 2*n)
	z := other.deviceAt(t, busy, "z", func(o *Options) { o.Project = "another" })
	z.sync()
	s = other.counting(t, dir, &stats)
	require.Equal(t, n, (&testDevice{s, t}).sync().Pushed)
	require.NoError(t, s.Close())
	require.Equal(t, n, other.device(t, "b").pull().Pulled)
}

// TestTableIsLostOrForeign takes the table away, or puts something else there.
func TestTableIsLostOrForeign(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	const n = 2 * askedEach
	makeSessions(t, dir, n)
	var stats atomic.Int64
	process := func(do func(r *testDevice)) {
		s := c.counting(t, dir, &stats)
		do(&testDevice{s, t})
		require.NoError(t, s.Close())
	}
	process(func(r *testDevice) { r.sync() })
	tables, err := filepath.Glob(filepath.Join(dir, sessiondir.Bookkeeping, statesDir, replica.Prefix+"????????????????"))
	require.NoError(t, err)
	require.Len(t, tables, 1)
	for name, spoil := range map[string]func() error{
		"gone":      func() error { return os.Remove(tables[0]) },
		"empty":     func() error { return os.WriteFile(tables[0], nil, 0o600) },
		"foreign":   func() error { return os.WriteFile(tables[0], []byte("{\"v\": 99}\nmore\n"), 0o600) },
		"a pipe":    func() error { _ = os.Remove(tables[0]); return unix.Mkfifo(tables[0], 0o600) },
		"directory": func() error { _ = os.Remove(tables[0]); return os.Mkdir(tables[0], 0o700) },
	} {
		require.NoError(t, spoil(), name)
		process(func(r *testDevice) {
			require.Zero(t, r.sync().Pushed, name)
			r.appendTo(nth(3), "events.jsonl", "{}\n")
			require.Equal(t, 1, r.sync().Pushed, name)
		})
		process(func(r *testDevice) { require.Zero(t, r.sync().Pushed, name) })
	}
}

// TestHintOutlivesItsProcess has a process read the catalogue and end before it
// fetched anything. The next one fetches, though the catalogue tells it nothing.
func TestHintOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.sync()
	dir := filepath.Join(t.TempDir(), "sessions")
	var stats atomic.Int64
	b := c.counting(t, dir, &stats, func(o *Options) { o.Device = "b" })
	_, err := b.Remote(t.Context())
	require.NoError(t, err)
	require.NoError(t, b.Close())
	b = c.counting(t, dir, &stats, background, func(o *Options) { o.Device = "b" })
	require.Eventually(t, func() bool { return b.Exists("s") }, time.Minute, time.Millisecond)
	require.NoError(t, b.Close())
}
