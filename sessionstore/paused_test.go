package sessionstore_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
)

var pausedFlag = flag.Int("paused", 0, "how often TestPausedWriters and TestPausedWritersPython make each kind of run; 0: 67 with TEST_LONG set, else 1")

// pausedRuns returns how many runs of a kind are made.
func pausedRuns() int {
	if *pausedFlag > 0 {
		return *pausedFlag
	}
	return testenv.Share(1, 1, 67)
}

// TestPausedWriters lets a store and an old tool, which knows no lock, write to
// one session, while readers read it. All of them pause at random at each step
// that touches the disk. What is lost is judged by the contract of
// [writertest]; the control, two old tools beside each other, is judged by the
// same judge.
func TestPausedWriters(t *testing.T) {
	t.Parallel()
	kinds := pausedKinds()
	figures := runPaused(t, append(kinds, paused{control: true, counted: true}))
	store, control := writertest.Figures{}, figures[len(kinds)]
	for _, f := range figures[:len(kinds)] {
		store.Add(f)
	}
	fmt.Fprintf(t.Output(), "a store beside an old tool: %s\n", &store)
	fmt.Fprintf(t.Output(), "two old tools:              %s\n", &control)
	requireApart(t, &store)
	if store.Rows > 200 && control.Rows > 200 { // few rows tell nothing
		assert.LessOrEqual(t, store.GoneShare(), control.GoneShare()+0.1, "a store costs more rows than a second old tool")
	}
}

// TestPausedWritersPython is TestPausedWriters with an old tool that is written
// in Python and runs in a process of its own.
func TestPausedWritersPython(t *testing.T) {
	t.Parallel()
	interpreter := testenv.Python(t)
	kinds := pausedKinds()
	for i := range kinds {
		kinds[i].python = interpreter
	}
	all := writertest.Figures{}
	for _, f := range runPaused(t, kinds) {
		all.Add(f)
	}
	fmt.Fprintf(t.Output(), "a store beside an old tool in Python: %s\n", &all)
	requireApart(t, &all)
}

// requireApart requires that many rows were written with nobody saving, so
// that an overlap excuses few. A handful of rows tells nothing.
func requireApart(t *testing.T, f *writertest.Figures) {
	t.Helper()
	if f.Rows > 200 {
		assert.GreaterOrEqual(t, f.ApartShare(), 0.3, "too many rows are excused by an overlap")
	}
}

// paused is one kind of run.
type paused struct {
	durability string
	counted    bool   // metadata has turn_count
	control    bool   // a second old tool takes the place of the store
	python     string // the interpreter of an old tool in Python; empty: it is written in Go
}

// pausedKinds returns all kinds of runs of a store.
func pausedKinds() (kinds []paused) {
	for _, name := range slices.Sorted(maps.Keys(durabilities)) {
		kinds = append(kinds, paused{durability: name}, paused{durability: name, counted: true})
	}
	return kinds
}

func (p paused) name() string {
	name := p.durability
	if p.control {
		name = "control"
	}
	if p.counted {
		return name + "/turn_count"
	}
	return name
}

// runPaused makes the runs of all kinds and returns what each came to.
func runPaused(t *testing.T, kinds []paused) []writertest.Figures {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a name cannot be given to another file while a reader has the first open")
	}
	n := testenv.Seed(t)
	figures := make([]writertest.Figures, len(kinds))
	t.Run("all", func(t *testing.T) {
		for i, p := range kinds {
			t.Run(p.name(), func(t *testing.T) {
				t.Parallel()
				figures[i] = p.runs(t, n, uint64(i), pausedRuns())
			})
		}
	})
	return figures
}

// pausedAtOnce is how many runs of one kind go on at once: they mostly sleep.
const pausedAtOnce = 16

// runs makes some runs and returns what they came to.
func (p paused) runs(t *testing.T, seed, kind uint64, runs int) (all writertest.Figures) {
	t.Helper()
	dir := t.TempDir()
	next := make(chan uint64)
	figures := make(chan writertest.Figures)
	for range min(runs, pausedAtOnce) {
		var python *writertest.Python
		if p.python != "" {
			python = writertest.StartPython(t, p.python, writertest.OldScript, seed^kind)
		}
		go func() {
			for i := range next {
				stream := kind<<32 | i<<8
				r := pausedRun{paused: p, t: t, dir: filepath.Join(dir, fmt.Sprint(i)), seed: seed, stream: stream, python: python}
				figures <- r.run()
			}
		}()
	}
	go func() {
		defer close(next)
		for i := range runs {
			next <- uint64(i)
		}
	}()
	for range runs {
		all.Add(<-figures)
	}
	for _, finding := range all.Findings[:min(len(all.Findings), 20)] {
		t.Log(finding)
	}
	fmt.Fprintf(t.Output(), "%s: %d runs: %s\n", p.name(), runs, &all)
	if p.control {
		assert.Zero(t, all.Broken(), "two old tools do not break the contract: the judge is wrong")
		return all
	}
	assert.Zero(testenv.Lost(t), all.Broken(), "the contract was broken")
	return all
}

// metadata is what the tool saves beside so many rows.
func (p paused) metadata(rows int) string {
	if p.counted {
		return fmt.Sprintf(`{"turn_count": %d}`, rows)
	}
	return "{}"
}

// begin makes the session of a run.
func (r *pausedRun) begin() {
	r.session = filepath.Join(r.dir, turnsID)
	r.h.Dir, r.h.First = r.session, user("first")
	write(r.t, r.h.First+"\n", r.session, transcriptFile)
	write(r.t, r.metadata(1), r.session, metadataFile)
}

// run makes one run: both writers write, two readers read until they are done.
func (r *pausedRun) run() writertest.Figures {
	r.begin()
	var writers, readers sync.WaitGroup
	writers.Go(r.theirs)
	if r.control {
		writers.Go(r.second)
	} else {
		writers.Go(r.ours)
	}
	done := make(chan struct{})
	readers.Go(func() { r.oldReader(done) })
	readers.Go(func() { r.ourReader(done) })
	writers.Wait()
	close(done)
	readers.Wait()
	r.h.Last()
	f := r.h.Judge()
	r.check(os.RemoveAll(r.dir))
	return f
}
