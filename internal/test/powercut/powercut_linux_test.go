package powercut

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/device"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/disk"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/record"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var (
	states  = flag.Int("states", 0, "crash states a file system; 0: 60, and 16 in a short run; 16 at least")
	systems = flag.String("fs", "", "file systems, by commas; empty: ext4, xfs and btrfs, and only ext4 in a short run")
	keep    = flag.String("keep", "", "directory in which records stay")
	repeat  = flag.String("record", "", "directory of a kept record; see -state")
	state   = flag.String("state", "", `one state of the record, as in "1234 torn 567"; empty: -states of them`)
	within  = flag.String("within", "", "cut only in calls on subjects of which view and directory have this text")
)

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Child{"disk": serveChild, "work": workChild, "go on": goOnChild, "sync": syncChild, "pass": passChild})
}

// A share is how much is done for a file system.
type share struct {
	states int
	scale  int  // how often each kind of call is made
	loud   bool // a second round beside neighbours
	second int  // each so many states, the power is cut again while it goes on
	lies   int  // states of a disk that ignores flushes
}

// shares returns the file systems and how much is done for each.
func shares() ([]device.Kind, share) {
	names, s := "ext4,xfs,btrfs", share{states: 60, scale: 1, loud: true, second: 30, lies: 8}
	if !testenv.Long() && *states == 0 {
		names, s.states, s.loud, s.second = "ext4", 16, false, 12
	}
	if *states > 0 {
		s.states, s.second = max(*states, 16), min(max(*states, 16), 40)
	}
	if *systems != "" {
		names = *systems
	}
	var kinds []device.Kind
	for name := range strings.SplitSeq(names, ",") {
		k, ok := device.Find(name)
		if !ok {
			panic(fmt.Sprintf("-fs: no file system %q is known", name))
		}
		kinds = append(kinds, k)
	}
	return kinds, s
}

// TestPowerCuts cuts the power under each file system, and fails when a row that
// was acknowledged is lost or a control does not do what it must.
func TestPowerCuts(t *testing.T) {
	if *states == 0 && *repeat == "" {
		testenv.Soak(t, "it needs loop devices")
	}
	kinds, s := shares()
	missing := device.Missing(kinds)
	testenv.Need(t, missing == "", missing)
	if *repeat != "" {
		repeatState(t, kinds[0])
		return
	}
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			cutPower(t, k, s, testenv.Seed(t))
		})
	}
}

// cutPower records a workload on the file system and judges its crash states.
func cutPower(t *testing.T, k device.Kind, s share, seed uint64) {
	t.Logf("power cuts %s: seed %d", k.Name, seed)
	dir := workDir(t, k)
	runs := max(1, s.states/500)
	sum, mounted := history.Tally{}, 0
	lied := history.Tally{}
	for n := range runs {
		start := time.Now()
		r := makeRecord(t, filepath.Join(dir, fmt.Sprint(n)), k, "", worker{Seed: seed + uint64(n), Scale: s.scale, Loud: s.loud})
		recorded := time.Now()
		c := newChecker(t, k, r)
		c.second = s.second
		c.check(t, s.states/runs, seed)
		t.Logf("record %d: made in %.0f s, judged in %.0f s", n, recorded.Sub(start).Seconds(), time.Since(recorded).Seconds())
		sum.Merge(c.sum)
		mounted += c.mounted
		if n == 0 {
			c.lie(t, s.lies, seed)
			lied = c.sum
		}
	}
	durable, relaxed, python := sum.Sum("durable"), sum.Sum("turns-relaxed"), sum.Sum("turns-python")
	renamed, synced, liar := sum.Sum("renamed"), sum.Sum("synced"), lied.Sum("durable")
	fmt.Printf("power cuts %s: %d states, acknowledged %d, lost %d\n", k.Name, mounted, durable.Acked, durable.Lost)
	fmt.Printf("power cuts %s: a second cut: acknowledged %d, lost %d\n", k.Name, sum.Sum("second").Acked, sum.Sum("second").Lost)
	fmt.Printf("power cuts %s: side by side: Relaxed lost %d of %d, the Python store's way lost %d of %d\n", k.Name,
		relaxed.Lost, relaxed.Acked, python.Lost, python.Acked)
	fmt.Printf("power cuts %s: controls: renamed without sync lost %d of %d, synced lost %d of %d, a disk that lies lost %d of %d\n", k.Name,
		renamed.Lost, renamed.Acked, synced.Lost, synced.Acked, liar.Lost, liar.Acked)
	t.Logf("\n%s", sum)
	require.Zero(testenv.Lost(t), durable.Lost, "rows that were acknowledged are lost")
	require.Zero(t, durable.Wrong, "something is wrong with what was acknowledged or under way")
	require.Zero(testenv.Lost(t), sum.Sum("second").Lost, "rows are lost when the power is cut again")
	require.Zero(t, sum.Sum("second").Wrong, "something is wrong when the power is cut again")
	require.Zero(t, synced.Lost, "control: synced files are lost")
	require.Positive(t, renamed.Lost, "control: files renamed without a sync are not lost")
	require.Positive(t, liar.Lost, "control: a disk that ignores flushes costs nothing")
	chance := python.Lost/5 + python.Acked/40 // which of two calls a cut meets
	require.LessOrEqual(t, relaxed.Lost, python.Lost+chance, "Relaxed loses more than the Python store's way")
}

// workDir returns the directory of the records of a file system.
func workDir(t *testing.T, k device.Kind) string {
	if *keep == "" {
		return t.TempDir()
	}
	dir := filepath.Join(*keep, k.Name)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return dir
}

// repeatState judges states of a kept record again: one, or others.
func repeatState(t *testing.T, k device.Kind) {
	c := newChecker(t, k, readRecord(t, *repeat, filepath.Join(*repeat, "mnt")))
	if *state == "" {
		c.judge(t, c.chooseIn(max(*states, 1), testenv.Seed(t), "durable"))
		return
	}
	s, err := record.ParseState(*state)
	require.NoError(t, err)
	c.image = filepath.Join(*repeat, "crash.img")
	c.judge(t, []record.State{s})
}

// serveChild is the disk of a record.
func serveChild(dir, start string) error {
	size, err := readSize(dir)
	if err != nil {
		return err
	}
	return disk.Serve(disk.Options{
		Mount: filepath.Join(dir, "disk"), Record: filepath.Join(dir, "record"),
		Position: filepath.Join(dir, "position"), Start: start, Size: size,
	})
}
