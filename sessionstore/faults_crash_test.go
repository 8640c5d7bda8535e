package sessionstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// A stage is an act and the number of the store that does it.
type stage struct {
	act
	store int
}

// by returns the acts as stages of one store.
func by(store int, acts ...act) []stage {
	stages := make([]stage, len(acts))
	for i, a := range acts {
		stages[i] = stage{a, store}
	}
	return stages
}

// A run is a sequence of acts that was recorded.
type run struct {
	log    *crashsim.Log
	looks  []look // the session after so many acts
	system system
	name   string // for reports
	was    string // what the reference found in the beginning
	raised error  // what it raised then
	seed   uint64 // of the states that are chosen
	again  int    // after every so many states, crash what recovers them
}

// record does the stages in dir, the first of which has the number first.
// All of it is durable. cold is a new store, as of a new process, for each
// stage.
func record(t *testing.T, dir string, s system, cold bool, first int, stages []stage) *run {
	t.Helper()
	rec, err := crashsim.Record(dir)
	require.NoError(t, err)
	hooks := s.seam(nil, rec.After)
	stores := map[int]*Store{}
	done := func() {
		for number, st := range stores {
			require.NoError(t, st.Close())
			delete(stores, number)
		}
	}
	r := &run{looks: []look{lookFresh(t, dir, s)}, system: s}
	for n, stage := range stages {
		st := stores[stage.store]
		if st == nil {
			st = openFaulty(t, dir, Durable, hooks)
			stores[stage.store] = st
		}
		require.NoError(t, stage.do(t, st, first+n), stage.name)
		rec.Acknowledge()
		if cold {
			done()
		}
		r.looks = append(r.looks, lookFresh(t, dir, s))
	}
	done()
	require.NoError(t, rec.Verify(func(path string) bool { return strings.HasSuffix(path, ".lock") }))
	r.log, err = rec.Log()
	require.NoError(t, err)
	return r
}

// lookFresh looks at the session as a process does that has just begun.
func lookFresh(t *testing.T, dir string, s system) look {
	t.Helper()
	st := openFaulty(t, dir, Durable, s.seam(nil, nil))
	l, err := lookAt(t, st)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	return l
}

// crash examines at most limit states that a power cut leaves of the run.
func (r *run) crash(t *testing.T, c *tally, limit int) {
	t.Helper()
	crash := &crashsim.Crash{Log: r.log, Seed: r.seed, Max: limit, Ordered: r.system.ordered}
	r.examine(t, c, crash)
}

func (r *run) examine(t *testing.T, c *tally, crash *crashsim.Crash) {
	t.Helper()
	base, count := testenv.Scratch(t), 0
	for s, err := range crash.States(nil) {
		require.NoError(t, err)
		dir := filepath.Join(base, "d")
		require.NoError(t, s.Materialise(dir))
		r.check(t, c, s, dir)
		c.points.Add(1)
		require.NoError(t, os.RemoveAll(dir))
		if count++; r.again > 0 && count%r.again == 0 {
			r.crashAgain(t, c, s, dir)
		}
	}
}

// crashAgain cuts the power in the first appends after s, which recover it.
func (r *run) crashAgain(t *testing.T, c *tally, s *crashsim.State, dir string) {
	t.Helper()
	require.NoError(t, s.Materialise(dir))
	was, raised := readAsPython(filesBelow(dir))
	next := record(t, dir, r.system, false, 100, by(0, add(1, 40), add(3, 40), add(1, 40)))
	require.NoError(t, os.RemoveAll(dir))
	next.was, next.raised = was.rows, raised
	next.name = "after " + s.String()
	next.seed = r.seed
	next.crash(t, c, againLimit())
}

// check examines one state, which stands in dir.
func (r *run) check(t *testing.T, c *tally, s *crashsim.State, dir string) {
	t.Helper()
	st := openFaulty(t, dir, Durable, r.system.seam(nil, nil))
	defer func() { require.NoError(t, st.Close()) }()
	found, err := lookAt(t, st)
	if err != nil {
		c.lose(t, "load: %v\n%s, %v\n%s", err, r.name, s, contents(dir))
	}
	before, after := r.looks[s.Acked], r.looks[min(s.Acked+1, len(r.looks)-1)]
	if why := found.between(before, after); why != "" {
		c.lose(t, "%s\n%s\n%s, %v\n%s", why, diagnose(found, before, after), r.name, s, contents(dir))
	}
	r.checkPython(t, c, s, dir)
	r.goOn(t, c, s, st, found)
}

// checkPython requires the reference to find the state before or after the act
// that was under way, whole, as this library does.
func (r *run) checkPython(t *testing.T, c *tally, s *crashsim.State, dir string) {
	t.Helper()
	found, err := readAsPython(filesBelow(dir))
	if s.Acked == 0 && r.name != "" && errors.Is(err, r.raised) && found.rows == r.was {
		return // nothing has been acknowledged since then
	}
	if err != nil {
		c.lose(t, "the reference: %v\n%s, %v\n%s", err, r.name, s, contents(dir))
	}
	for n := s.Acked; n <= min(s.Acked+1, len(r.looks)-1); n++ {
		if r.looks[n].rows == found.rows {
			return
		}
	}
	c.lose(t, "the reference reads %q\n%s, %v\n%s", found.rows, r.name, s, contents(dir))
}

func filesBelow(dir string) readFunc {
	return func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, victim, name)) }
}

// goOn appends to what was found and requires that all of it is there then.
func (r *run) goOn(t *testing.T, c *tally, s *crashsim.State, st *Store, found look) {
	t.Helper()
	last := row(0, "last")
	if err := st.Append(t.Context(), victim, last); err != nil {
		c.lose(t, "append: %v\n%s, %v\n%s", err, r.name, s, contents(st.Dir()))
	}
	want := found.rows + string(last.m.raw) + "\n"
	warm, err := lookAt(t, st)
	require.NoError(t, err)
	for _, now := range []look{lookFresh(t, st.Dir(), r.system), warm} {
		counted := found.counted(want)
		if now.rows != want || found.metadata != "" && now.metadata != counted || now.metadata == "" {
			c.lose(t, "after an append\n%s\n%s, %v\n%s", diagnose(now, found, look{rows: want, metadata: counted}), r.name, s, contents(st.Dir()))
		}
	}
	data, err := os.ReadFile(filepath.Join(st.Dir(), victim, sessiondir.Transcript))
	if err != nil || string(data) != want {
		c.lose(t, "main file after an append: %v %q\n%v", err, data, s)
	}
}

// contents returns the files below dir, for the report of a loss.
func contents(dir string) string {
	text := ""
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, _ := os.ReadFile(path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text += path[len(dir):] + " " + info.ModTime().Format("15:04:05.000000000") + " " + strconv.Quote(string(data)) + "\n"
		return nil
	})
	return text
}

// crashSequences cuts the power in sequences of acts.
func crashSequences(t *testing.T, total *tally, seed uint64) {
	for _, g := range sequences() {
		total.group(t, g.name, func(t *testing.T, c *tally) {
			t.Parallel()
			tried := systems
			if *sweep != "all" {
				tried = testenv.Some(t, len(systems)/6, systems...)
			}
			for _, s := range tried {
				if s.clock > 0 && (testing.Short() || g.fine) {
					continue
				}
				r := record(t, testenv.Scratch(t), s, g.cold, 1, g.stages)
				r.seed = seed
				r.again = limitOf() / 2
				r.crash(t, c, limitOf())
			}
		})
	}
}

// limitOf returns how many states are examined of one sequence on one system.
func limitOf() int {
	if *sweep == "all" {
		return 1_500
	}
	return testenv.Share(4, 4, 35)
}

// againLimit returns how many states are examined of a power cut in what recovers
// from another.
func againLimit() int {
	if *sweep == "all" {
		return 40
	}
	return testenv.Share(2, 4, 27)
}

type sequence struct {
	name   string
	cold   bool
	stages []stage
	fine   bool // only where nanoseconds are kept: a coarser time cannot tell that a file was emptied on purpose
}

func sequences() []sequence {
	mixed := by(0, create(), add(1, 40), add(1, 40), save(0), rewind(1), add(1, 40), setName(), add(3, 40), update(), add(1, 40), config(), replace(2), add(1, 700), save(2), config())
	all := []sequence{
		{name: "life", stages: mixed},
		{name: "life of many processes", cold: true, stages: mixed},
		{name: "created by append", stages: by(0, add(2, 40), add(1, 40), remove(), add(1, 40), save(1), remove(), save(2), remove(), create())},
		{name: "appends of one", stages: by(0, add(1, 40), add(1, 40), add(1, 40), add(1, 40), add(1, 40), add(1, 40))},
		{name: "appends of three", stages: by(0, add(1, 40), add(3, 40), add(3, 40), add(3, 40), add(3, 40))},
		{name: "appends of one and three", cold: true, stages: by(0, add(1, 40), add(1, 40), add(3, 40), add(1, 40), add(3, 40), add(1, 40))},
		{name: "large appends", stages: by(0, add(1, 600), add(1, 1500), add(2, 700), add(1, 40), add(1, 5000))},
		{name: "rewinds", stages: by(0, add(3, 40), add(1, 40), rewind(2), add(1, 40), replace(1), add(2, 40), add(1, 40), rewind(1), add(1, 40))},
		{name: "salvage", stages: by(0, add(1, 40), add(2, 40), add(1, 40), damage(), salvage(), add(1, 40), save(0), add(1, 40), damage(), again(), salvage(), add(1, 40))},
		{name: "rewinds to nothing", stages: by(0, add(1, 40), add(1, 40), add(1, 40), rewind(0), add(1, 40), add(1, 40), rewind(0), save(1)), fine: true},
	}
	patterns := []string{"0101", "0011", "0001", "1001", "0110"}
	if *sweep == "all" {
		patterns = nil
		for n := range 32 {
			patterns = append(patterns, fmt.Sprintf("%05b", n))
		}
	}
	for _, pattern := range patterns {
		var stages []stage
		stages = append(stages, by(1, add(1, 40), add(1, 40))...)
		for i, store := range pattern {
			stages = append(stages, by(int(store-'0'), add(1+2*(i%2), 40))...)
		}
		all = append(all, sequence{name: "two stores " + pattern, stages: stages})
	}
	return all
}
