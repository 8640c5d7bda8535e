package powercut

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/device"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/inspect"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/record"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// A checker judges crash states of a recording.
type checker struct {
	kind    device.Kind
	rec     recording
	python  *inspect.Python
	image   string // the disk of the state at hand
	lies    bool   // the disk ignores flushes
	second  int    // each so many states are gone on with
	sum     history.Tally
	mounted int
	told    map[string]int // how often a finding of the kind was printed
}

func newChecker(t *testing.T, k device.Kind, r recording) *checker {
	t.Helper()
	p, err := inspect.StartPython(testenv.Python(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	c := &checker{kind: k, rec: r, python: p, sum: history.Tally{}, told: map[string]int{}}
	c.image = filepath.Join(r.dir, "crash")
	if f, err := os.CreateTemp("/dev/shm", "powercut"); err == nil { // a flush costs nothing there
		c.image = f.Name()
		require.NoError(t, f.Close())
		t.Cleanup(func() { require.NoError(t, os.Remove(f.Name())) })
	}
	return c
}

// check judges n states, chosen by the seed.
func (c *checker) check(t *testing.T, n int, seed uint64) {
	t.Helper()
	states := c.choose(n, seed)
	c.replay(t, c.newReplay(record.Image{}), states, func(s record.State) { c.tell(c.look(t, s), s) })
	for i := c.second - 1; i < len(states); i += c.second {
		c.goOn(t, states[i])
	}
}

// judge fails for each state in which something is wrong.
func (c *checker) judge(t *testing.T, states []record.State) {
	t.Helper()
	c.replay(t, c.newReplay(record.Image{}), states, func(s record.State) {
		for _, f := range c.look(t, s) {
			if f.Verdict.What != "" && (*state != "" || f.Subject.Mode == "durable") {
				t.Errorf("%s: -state %q", f, s)
			}
		}
	})
}

// lie judges states of a disk that ignores flushes, n at a time, until a row is
// lost. Most states lose some; btrfs cannot mount many of them at all, and then
// there is nothing to look at.
func (c *checker) lie(t *testing.T, n int, seed uint64) {
	t.Helper()
	c.lies, c.sum = true, history.Tally{}
	for round := range uint64(10) {
		r := c.newReplay(record.Image{})
		r.Lies = true
		c.replay(t, r, c.chooseIn(n, seed+round, "durable"), func(s record.State) {
			for _, f := range c.look(t, s) {
				c.sum.Add(f.Subject.Mode, f.Reader, f.Verdict)
			}
		})
		if c.sum.Sum("durable").Lost > 0 {
			return
		}
	}
}

// controls is how many states are cut in the control that must lose.
const controls = 6

// choose returns n states, most of them in the calls of the store. Some are cut
// in those of the comparison, and some in those of the control, which other
// writes would soon make durable.
func (c *checker) choose(n int, seed uint64) []record.State {
	states := c.chooseIn(n-n/4-controls, seed, "durable", "durable", "durable", "relaxed")
	states = append(states, c.chooseIn(n/4, seed+1, "turns-relaxed", "turns-python")...)
	states = append(states, c.chooseIn(controls, seed+2, "renamed")...)
	slices.SortStableFunc(states, func(a, b record.State) int { return cmp.Compare(a.Cut, b.Cut) })
	return states
}

// chooseIn returns n states that are cut in the calls of the modes. A mode that
// is named more often is chosen more often.
func (c *checker) chooseIn(n int, seed uint64, modes ...string) []record.State {
	var spans []record.Span
	for _, mode := range modes {
		for _, h := range c.rec.calls {
			if h.Subject.Mode != mode || !strings.Contains(string(h.Subject.View)+" "+h.Subject.Dir, *within) || mode == "renamed" && !strings.HasPrefix(h.Subject.Dir, "quiet") {
				continue
			}
			for _, call := range h.Calls {
				if call.Ended {
					spans = append(spans, record.Span{From: call.From, To: call.To})
				}
			}
		}
	}
	return record.Choose(c.rec.entries, spans, n, rand.New(rand.NewPCG(seed, 2)))
}

// newReplay returns the replay of the record on a disk with the content start.
func (c *checker) newReplay(start record.Image) *record.Replay {
	r := record.NewReplay(start, c.rec.entries)
	r.Sector = c.kind.Sector
	return r
}

// replay makes the disk of each state, mounts it, and calls do.
func (c *checker) replay(t *testing.T, r *record.Replay, states []record.State, do func(record.State)) {
	t.Helper()
	for _, s := range states {
		disk, _ := r.Crash(s)
		require.NoError(t, device.WriteImage(c.image, disk, c.rec.size))
		c.mount(t, s, do)
	}
}

// mount mounts the disk at hand and calls do.
func (c *checker) mount(t *testing.T, s record.State, do func(record.State)) {
	t.Helper()
	d, err := device.Attach(c.image, false)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Detach()) }()
	err = d.Mount(c.kind, c.rec.mnt)
	if c.lies && err != nil {
		return // the file system may be lost, too
	}
	require.NoError(t, err, "-record %s -state %q", c.rec.dir, s)
	defer func() { require.NoError(t, device.Unmount(c.rec.mnt)) }()
	c.mounted++
	do(s)
}

func (c *checker) look(t *testing.T, s record.State) []inspect.Finding {
	t.Helper()
	found, err := inspect.Look(t.Context(), c.rec.mnt, c.rec.calls, s.Cut, c.python)
	require.NoError(t, err, "-record %s -state %q", c.rec.dir, s)
	if !c.lies {
		found = append(found, c.sync(t, s)...)
	}
	return found
}

// sync lets the devices sync in a child, and judges the result. A device whose last
// call returned long before the cut syncs after one of four cuts only.
func (c *checker) sync(t *testing.T, s record.State) (found []inspect.Finding) {
	t.Helper()
	w := worker{Root: c.rec.mnt, Cloud: filepath.Join(c.rec.dir, "cloud"), Cut: s.Cut}
	var all []*history.History
	for _, h := range c.rec.calls {
		if h.Subject.Synced() && h.Begun(s.Cut) && (s.Seed%4 == 0 || !c.rests(h.Subject.Dir, s.Cut)) {
			all, w.Subjects = append(all, h), append(w.Subjects, h.Subject)
		}
	}
	if len(all) == 0 {
		return nil
	}
	told, err := json.Marshal(w)
	require.NoError(t, err)
	var states []history.State
	lines := testenv.Spawn(t, "sync", c.rec.dir, string(told)).End(t)
	require.NotEmpty(t, lines, "-record %s -state %q", c.rec.dir, s)
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &states))
	for i, h := range all {
		found = append(found, inspect.Finding{Subject: h.Subject, Reader: "sync", State: states[i], Verdict: h.Judge(s.Cut, states[i])})
	}
	return found
}

// rests reports whether all calls in dir returned long before the cut.
func (c *checker) rests(dir string, cut int) bool {
	const long = 300 // entries
	for _, h := range c.rec.calls {
		if h.Subject.Dir == dir && h.Calls[len(h.Calls)-1].To+long > cut {
			return false
		}
	}
	return true
}

// tell counts what was found, and prints some of what is wrong.
func (c *checker) tell(found []inspect.Finding, s record.State) {
	for _, f := range found {
		c.sum.Add(f.Subject.Mode, f.Reader, f.Verdict)
		if kind := f.Subject.Mode + f.Reader + f.Verdict.Kind; f.Verdict.What != "" && (f.Subject.Mode == "durable" || f.Subject.Mode == "second") {
			if c.told[kind]++; c.told[kind] <= 3 {
				fmt.Printf("%s: -record %s -state %q\n", f, c.rec.dir, s)
			}
		}
	}
}

// goOn goes on with a crash state on a disk that records, and cuts the power
// again: while the file system recovers, while the store does, and after that.
func (c *checker) goOn(t *testing.T, s record.State) {
	t.Helper()
	base, _ := c.newReplay(record.Image{}).Crash(s)
	start := filepath.Join(c.rec.dir, "start")
	require.NoError(t, device.WriteImage(start, base, c.rec.size))
	w := worker{Root: c.rec.mnt, Cloud: filepath.Join(c.rec.dir, "cloud"), Cut: s.Cut}
	for _, h := range c.rec.calls {
		if h.Subject.Mode == "durable" && h.Begun(s.Cut) {
			h := h.Subject
			h.Group = false
			w.Subjects = append(w.Subjects, h)
		}
	}
	if len(w.Subjects) == 0 {
		return // before the first call
	}
	t.Logf("second cut after -record %s -state %q", c.rec.dir, s)
	n := newChecker(t, c.kind, makeRecord(t, filepath.Join(c.rec.dir, "second"), c.kind, start, w))
	states := n.secondCuts(s.Seed)
	for _, h := range n.rec.calls {
		h.Calls[0].From, h.Calls[0].To = 0, 0 // it was there before
	}
	n.replay(t, n.newReplay(base), states, func(s record.State) {
		found := n.look(t, s)
		for i := range found {
			found[i].Subject.Mode = "second"
		}
		n.tell(found, s)
	})
	c.sum.Merge(n.sum)
	require.NoError(t, os.RemoveAll(n.rec.dir))
}

// secondCuts returns some cuts while the file system recovers, and more in the
// calls after that.
func (c *checker) secondCuts(seed uint64) []record.State {
	begin := c.rec.calls[0].Calls[0].From
	rng := rand.New(rand.NewPCG(seed, 4))
	states := record.Choose(c.rec.entries, []record.Span{{From: 0, To: begin}}, 3, rng)
	for _, s := range c.chooseIn(6, seed, "durable") {
		if s.Cut >= states[len(states)-1].Cut {
			states = append(states, s)
		}
	}
	return states
}
