package sessionstore_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var crossedFlag = flag.Int("crossed", 0, "how many ways TestCrossedCalls tries of each kind; 0: 40 with TEST_LONG set, else 15, with -short 6")

// TestCrossedCalls crosses one call of a store with one of an old tool in every
// way that has two switches: one side goes to one of its steps, the other to
// one of its own, and then both go on to their ends in that order. The contract
// of [writertest] must hold, then and after the next calls of both.
func TestCrossedCalls(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a name cannot be given to another file while a reader has the first open")
	}
	n := testenv.Seed(t)
	for _, durability := range slices.Sorted(maps.Keys(durabilities)) {
		for _, kind := range []string{"Append", "Load and Save", "Replace"} {
			t.Run(durability+"/"+kind, func(t *testing.T) {
				t.Parallel()
				runCrossings(t, paused{durability: durability}, kind, rand.New(rand.NewPCG(n, uint64(len(durability+kind)))))
			})
		}
	}
}

// A crossing is one way to cross two calls.
type crossing struct {
	kind         string // of the call of the store
	oursFirst    bool
	ours, theirs int  // the steps that they go to at first
	reader       bool // an old tool reads when the two switch, and one that does not wait at each step
}

func (c crossing) String() string {
	first := "theirs"
	if c.oursFirst {
		first = "ours"
	}
	return fmt.Sprintf("%s, %s first, ours to step %d, theirs to step %d, reader %v", c.kind, first, c.ours, c.theirs, c.reader)
}

// runCrossings makes all crossings of a kind, or some.
func runCrossings(t *testing.T, p paused, kind string, r *rand.Rand) {
	t.Helper()
	dir := t.TempDir()
	_, ours, theirs := p.cross(t, filepath.Join(dir, "count"), crossing{kind: kind, ours: 1 << 30, theirs: 1 << 30})
	var list []crossing
	for i := range ours + 1 {
		for j := range theirs + 1 {
			for n := range 4 {
				list = append(list, crossing{kind, n%2 == 0, i + 1, j + 1, n/2 == 0})
			}
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(crossings(), len(list))]
	next := make(chan int)
	var mu sync.Mutex
	var workers sync.WaitGroup
	all := writertest.Figures{}
	for range 8 {
		workers.Go(func() {
			for i := range next {
				f, _, _ := p.cross(t, filepath.Join(dir, fmt.Sprint(i)), list[i])
				mu.Lock()
				all.Add(f)
				mu.Unlock()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	workers.Wait()
	fmt.Fprintf(t.Output(), "%s/%s: crossed in %d ways: %s\n", p.name(), kind, len(list), &all)
	assert.Zero(testenv.Lost(t), all.Broken(), "the contract was broken")
}

// crossings returns how many crossings of a kind are made at most.
func crossings() int {
	if *crossedFlag > 0 {
		return *crossedFlag
	}
	return testenv.Share(6, 15, 40)
}

// cross crosses two calls and returns what that came to, and how many steps
// both sides have.
func (p paused) cross(t *testing.T, dir string, c crossing) (f writertest.Figures, ours, theirs int) {
	t.Helper()
	r := &pausedRun{paused: p, t: t, dir: dir}
	r.begin()
	us, them := newHalt(), newHalt()
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: durabilities[p.durability]}, &seam.Seam{
		Before: func(seam.Op) error { us.step(); return nil },
		After:  func(seam.Op) { us.step() },
	})
	require.NoError(t, err)
	tool := &writertest.OldTool{Dir: r.session, Step: func(string) { them.step() }}
	for i := range 3 { // now the backup is the state before
		r.check(r.h.Ours("Append", numbered("ours", i), func(*writertest.Call) error { return r.append(st, numbered("ours", i)) }))
	}
	us.at(c.ours)
	them.at(c.theirs)
	if c.reader {
		us.look, them.look = r.glimpse, r.glimpse
	}
	sides := []*side{
		{halt: us, call: func() error { return r.crossed(st, c.kind) }},
		{halt: them, call: func() error { return r.h.Theirs(tool, numbered("theirs", 0)) }},
	}
	if !c.oursFirst {
		slices.Reverse(sides)
	}
	r.switches(sides[0], sides[1], c.reader)
	us.look, them.look = nil, nil
	ours, theirs = us.steps(), them.steps()
	r.check(r.h.Theirs(tool, numbered("theirs", 1)))
	r.check(r.h.Ours("Append", numbered("ours", 4), func(*writertest.Call) error { return r.append(st, numbered("ours", 4)) }))
	r.check(st.Close())
	r.h.Last()
	if f = r.h.Judge(); f.Broken() > 0 {
		t.Logf("%s: %q", c, f.Findings)
	}
	r.check(os.RemoveAll(dir))
	return f, ours, theirs
}

// glimpse reads the transcript as an old tool does, unless it had to wait.
func (r *pausedRun) glimpse() {
	met := writertest.Read{Reader: "a reader between two steps", Begin: time.Now()}
	f, err := os.OpenFile(filepath.Join(r.session, transcriptFile), os.O_RDONLY|nonblocking, 0)
	switch {
	case err == nil:
		data, err := io.ReadAll(f)
		r.check(errors.Join(err, f.Close()))
		whole := false
		if met.Rows, whole = writertest.Parse(data); !whole {
			met.Main = writertest.Torn
		}
	case errors.Is(err, fs.ErrNotExist):
		met.Main = writertest.Missing
	default:
		return
	}
	met.End = time.Now()
	r.h.Met(met)
}

// crossed makes the call of the store that is crossed.
func (r *pausedRun) crossed(st *sessionstore.Store, kind string) error {
	row := numbered("ours", 3)
	return r.h.Ours(kind, row, func(c *writertest.Call) error {
		switch kind {
		case "Append":
			return r.append(st, row)
		case "Replace":
			return r.replace(st, row, c)
		}
		return r.loadAndSave(st, row)
	})
}
