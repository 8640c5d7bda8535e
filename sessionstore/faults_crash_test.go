package sessionstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// A stage is an act and the promise under which it is done.
type stage struct {
	act
	promise Durability
}

// promised returns the acts as stages of one durability.
func promised(d Durability, acts ...act) []stage {
	stages := make([]stage, len(acts))
	for i, a := range acts {
		stages[i] = stage{a, d}
	}
	return stages
}

// A run is a sequence of acts that was recorded.
type run struct {
	log    *fault.Log
	looks  []look // the session after so many acts
	system system
	synced bool   // some act promised no more than DataSynced
	name   string // for reports
	was    string // what the reference found in the beginning
	raised error  // what it raised then
	again  int    // after every so many states, crash what recovers them
}

// record does the stages in dir, the first of which has the number first.
// Every durability has a store of its own; cold is a new store, as of a new
// process, for each stage.
func record(t *testing.T, dir string, s system, cold bool, first int, stages []stage) *run {
	t.Helper()
	rec, err := fault.Record(dir)
	require.NoError(t, err)
	seam := s.seam(nil, rec.After)
	stores := map[Durability]*Store{}
	done := func() {
		for d, st := range stores {
			require.NoError(t, st.Close())
			delete(stores, d)
		}
	}
	r := &run{looks: []look{lookFresh(t, dir, s)}, system: s}
	for n, stage := range stages {
		st := stores[stage.promise]
		if st == nil {
			st = openFaulty(t, dir, stage.promise, seam)
			stores[stage.promise] = st
		}
		s.rest(t, st, s.name == "plain" && first == 1)
		require.NoError(t, stage.do(t, st, first+n), stage.name)
		rec.Acknowledge()
		if cold {
			done()
		}
		r.synced = r.synced || stage.promise != Durable
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
	crash := &fault.Crash{Log: r.log, Seed: 1, Max: limit, Ordered: r.system.ordered}
	r.examine(t, c, crash)
}

func (r *run) examine(t *testing.T, c *tally, crash *fault.Crash) {
	t.Helper()
	base, count := scratch(t), 0
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
func (r *run) crashAgain(t *testing.T, c *tally, s *fault.State, dir string) {
	t.Helper()
	for _, d := range []Durability{Durable, DataSynced} {
		require.NoError(t, s.Materialise(dir))
		was, raised := readAsPython(filesBelow(dir))
		next := record(t, dir, r.system, false, 100, promised(d, add(1, 40), add(3, 40), add(1, 40)))
		require.NoError(t, os.RemoveAll(dir))
		next.was, next.raised = was.rows, raised
		next.name = "after " + s.String()
		next.crash(t, c, 40)
	}
}

// check examines one state, which stands in dir.
func (r *run) check(t *testing.T, c *tally, s *fault.State, dir string) {
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

// checkPython examines what the reference finds. After acts that were all
// durable it is what this library finds. After others it may be the act
// before, whole; or it raises, because the file that it reads first is torn
// in a character. It never takes for whole what is not.
func (r *run) checkPython(t *testing.T, c *tally, s *fault.State, dir string) {
	t.Helper()
	main, _ := os.ReadFile(filepath.Join(dir, victim, sessiondir.Transcript))
	found, err := readAsPython(filesBelow(dir))
	if s.Acked == 0 && r.name != "" && errors.Is(err, r.raised) && found.rows == r.was {
		return // nothing has been acknowledged since then
	}
	if r.synced && errors.Is(err, errRaised) && !utf8.Valid(main) {
		return
	}
	if err != nil {
		c.lose(t, "the reference: %v\n%s, %v\n%s", err, r.name, s, contents(dir))
	}
	first := s.Acked
	if r.synced {
		first = max(0, first-1)
	}
	for n := first; n <= min(s.Acked+1, len(r.looks)-1); n++ {
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
func (r *run) goOn(t *testing.T, c *tally, s *fault.State, st *Store, found look) {
	t.Helper()
	last := row(0, "last")
	if err := st.Append(t.Context(), victim, last); err != nil {
		c.lose(t, "append: %v\n%s, %v\n%s", err, r.name, s, contents(st.Dir()))
	}
	want := found.rows + string(last.m.raw) + "\n"
	warm, err := lookAt(t, st)
	require.NoError(t, err)
	for _, now := range []look{lookFresh(t, st.Dir(), r.system), warm} {
		if now.rows != want || found.metadata != "" && now.metadata != found.metadata || now.metadata == "" {
			c.lose(t, "after an append\n%s\n%s, %v\n%s", diagnose(now, found, look{rows: want}), r.name, s, contents(st.Dir()))
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
func crashSequences(t *testing.T, total *tally) {
	for _, g := range sequences() {
		total.group(t, g.name, func(t *testing.T, c *tally) {
			t.Parallel()
			for _, s := range systems {
				if s.clock > 0 && (testing.Short() || g.fine) {
					continue
				}
				r := record(t, scratch(t), s, g.cold, 1, g.stages)
				r.again = limitOf() / 2
				r.crash(t, c, limitOf())
			}
		})
	}
}

// limitOf returns how many states are examined of one sequence on one system.
func limitOf() int {
	switch {
	case *sweep == "all":
		return 1_500
	case testing.Short() || !testenv.Thorough():
		return 20
	}
	return 50
}

type sequence struct {
	name   string
	cold   bool
	stages []stage
	fine   bool // only where nanoseconds are kept: a coarser time cannot tell that a file was emptied on purpose
}

func sequences() []sequence {
	var all []sequence
	for _, d := range []Durability{Durable, DataSynced} {
		name := durabilities[d] + " "
		mixed := promised(d, create(), add(1, 40), add(1, 40), save(0), rewind(1), add(1, 40), setName(), add(3, 40), update(), add(1, 40), config(), replace(2), add(1, 700), save(2), config())
		all = append(all,
			sequence{name: name + "life", stages: mixed},
			sequence{name: name + "life of many processes", cold: true, stages: mixed},
			sequence{name: name + "born by append", stages: promised(d, add(2, 40), add(1, 40), remove(), add(1, 40), save(1), remove(), save(2), remove(), create())},
			sequence{name: name + "appends of one", stages: promised(d, add(1, 40), add(1, 40), add(1, 40), add(1, 40), add(1, 40), add(1, 40))},
			sequence{name: name + "appends of three", stages: promised(d, add(1, 40), add(3, 40), add(3, 40), add(3, 40), add(3, 40))},
			sequence{name: name + "appends of one and three", cold: true, stages: promised(d, add(1, 40), add(1, 40), add(3, 40), add(1, 40), add(3, 40), add(1, 40))},
			sequence{name: name + "large appends", stages: promised(d, add(1, 600), add(1, 1500), add(2, 700), add(1, 40), add(1, 5000))},
			sequence{name: name + "rewinds", stages: promised(d, add(3, 40), add(1, 40), rewind(2), add(1, 40), replace(1), add(2, 40), add(1, 40), rewind(1), add(1, 40))},
			sequence{name: name + "rewinds to nothing", stages: promised(d, add(1, 40), add(1, 40), add(1, 40), rewind(0), add(1, 40), add(1, 40), rewind(0), save(1)), fine: true},
		)
	}
	patterns := []string{"sdsd", "ssdd", "sssd", "dssd", "sdds"}
	if *sweep == "all" {
		patterns = nil
		for n := range 32 {
			patterns = append(patterns, strings.NewReplacer("0", "d", "1", "s").Replace(fmt.Sprintf("%05b", n)))
		}
	}
	for _, pattern := range patterns {
		var stages []stage
		stages = append(stages, promised(Durable, add(1, 40), add(1, 40))...)
		for i, c := range pattern {
			d := Durable
			if c == 's' {
				d = DataSynced
			}
			stages = append(stages, promised(d, add(1+2*(i%2), 40))...)
		}
		all = append(all, sequence{name: "mixed " + pattern, stages: stages})
	}
	return all
}
