package sessionstore

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// A scene is an act of which the operations fail, after other acts.
type scene struct {
	name   string
	before []act
	act    act
}

func scenes() []scene {
	known := []act{create(), add(1, 40), add(3, 40), save(1), config(), add(1, 40), add(3, 40)}
	return []scene{
		{"save more", known, save(2)},
		{"save the same", known, save(0)},
		{"save less", known, rewind(2)},
		{"save less, append", after(known, rewind(2)), add(1, 40)},
		{"append one", known, add(1, 40)},
		{"append three", known, add(3, 40)},
		{"append to one line", []act{add(1, 40)}, add(1, 40)},
		{"append to nothing", []act{create()}, add(1, 40)},
		{"replace", known, replace(2)},
		{"update metadata", known, update()},
		{"set name", known, setName()},
		{"save config", known, config()},
		{"create", nil, create()},
		{"create by append", nil, add(2, 40)},
		{"create by save", nil, save(2)},
		{"create by config", nil, config()},
		{"salvage", after(known, damage()), salvage()},
		{"salvage after a save", after(known, damage(), again()), salvage()},
		{"back up what was not changed", after(known, bare()), again()},
		{"delete", known, remove()},
		{"create what was deleted", []act{add(1, 40), remove()}, create()},
	}
}

// after returns acts and more.
func after(acts []act, more ...act) []act { return slices.Concat(acts, more) }

// A failure is a way in which an operation fails.
type failure struct {
	name  string
	err   error
	part  int  // percent of a write that is done before it fails
	stays bool // what comes after fails, too
}

var failures = []failure{
	{name: "EIO", err: syscall.EIO},
	{name: "EIO for good", err: syscall.EIO, stays: true},
	{name: "EIO, half", err: syscall.EIO, part: 50},
	{name: "ENOSPC", err: syscall.ENOSPC, stays: true},
	{name: "ENOSPC, half", err: syscall.ENOSPC, part: 50, stays: true},
	{name: "ENOSPC, for once", err: syscall.ENOSPC},
}

// failOperations lets operations of every act fail, in every way: of a durable
// store on all systems, of others on some. In one way that is one operation in four with
// [testenv.Long], one in 24 without it; in the other ways one in twelve, one in 96, and
// none with -short. With [testenv.All] it is every operation, and one in two. The flag
// -faults=all takes all of them.
func failOperations(t *testing.T, total *tally, seed uint64) {
	tried := []Durability{Durable, Relaxed}
	if *sweep != "all" {
		tried = testenv.Some(t, 1, tried...)
	}
	for _, d := range tried {
		total.group(t, durabilities[d], func(t *testing.T, c *tally) {
			for i, s := range scenes() {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					failScene(t, c, d, s, rand.New(rand.NewPCG(seed, uint64(i))))
				})
			}
		})
	}
}

func failScene(t *testing.T, c *tally, d Durability, s scene, r *rand.Rand) {
	whole := wholeScene(t, s)
	for _, sys := range systems {
		for _, f := range failures {
			if *sweep != "all" && !usual(sys, d, f) {
				continue
			}
			first, step := 0, 1
			if n := failStep(simplest(sys, d, f)); *sweep != "all" {
				first, step = r.IntN(n), n
			}
			for at := first; ; at += step {
				p := &play{system: sys, promise: d, failer: &crashsim.Failer{At: at, Err: f.err, Part: f.part, Stays: f.stays}, whole: whole, seed: r.Uint64()}
				if !p.fails(t, c, s) {
					break
				}
				c.points.Add(1)
			}
		}
	}
}

// failStep returns of how many operations one fails.
func failStep(simplest bool) int {
	if simplest {
		return testenv.Share(24, 24, testenv.Further(4, 1))
	}
	return testenv.Share(24, 96, testenv.Further(12, 2))
}

// simplest reports whether a failure is tried of many operations even without
// [testenv.Long].
func simplest(sys system, d Durability, f failure) bool {
	return sys.name == "plain" && d == Durable && f.name == "EIO"
}

// usual reports whether a failure is tried without a sweep.
func usual(sys system, d Durability, f failure) bool {
	switch {
	case testing.Short():
		return sys.name == "plain" && f.name == "EIO"
	case sys.name == "plain":
		return d == Durable || f.part == 0 && f.err == syscall.EIO
	}
	return d == Durable && (sys.noExchange || sys.noLease) && (f.name == "EIO" || f.name == "ENOSPC")
}

// A play is one run of a scene with one failure.
type play struct {
	system  system
	promise Durability
	failer  *crashsim.Failer
	dir     string
	whole   look   // what the session is when nothing fails
	seed    uint64 // of the power cuts

	rec   *crashsim.Recorder
	armed bool
	err   error // of the act
	text  string
}

func (p *play) before(op seam.Op) error {
	if !p.armed {
		return nil
	}
	return p.failer.Before(op)
}

// fails plays the scene in a directory of its own, and reports whether an
// operation failed.
func (p *play) fails(t *testing.T, c *tally, s scene) bool {
	t.Helper()
	p.dir = testenv.Scratch(t)
	failed := p.run(t, c, s)
	if open := descriptors(p.dir); len(open) > 0 {
		c.lose(t, "%s: files stay open: %q", p.text, open)
	}
	require.NoError(t, os.RemoveAll(p.dir))
	return failed
}

// run reports whether an operation failed.
func (p *play) run(t *testing.T, c *tally, s scene) bool {
	t.Helper()
	var err error
	p.rec, err = crashsim.Record(p.dir)
	require.NoError(t, err)
	if !p.failer.Stays { // else it stands for a process that was killed
		p.failer.Refused = p.rec.Refused
	}
	st := openFaulty(t, p.dir, p.promise, p.system.seam(p.before, p.rec.After))
	defer func() { require.NoError(t, st.Close()) }()
	for n, a := range s.before {
		require.NoError(t, a.do(t, st, n+1), a.name)
		p.rec.Acknowledge()
	}
	old := lookFresh(t, p.dir, p.system)
	p.armed = true
	p.err = s.act.do(t, st, len(s.before)+1)
	p.armed = false
	op, failed := p.failer.Failed()
	p.text = s.name + ", " + durabilities[p.promise] + ", " + p.system.name + ": " + op.Kind.String() + " " + op.Name + ": " + p.failer.Err.Error()
	if p.err != nil {
		p.text += ": " + p.err.Error()
	}
	found := p.checkFailed(t, c, st, old, op)
	p.goOn(t, c, st, len(s.before), op, found)
	return failed
}

// checkFailed examines what is there after the act.
func (p *play) checkFailed(t *testing.T, c *tally, st *Store, old look, op seam.Op) look {
	t.Helper()
	fresh := openFaulty(t, p.dir, Durable, p.system.seam(nil, nil))
	defer func() { require.NoError(t, fresh.Close()) }()
	found, err := lookAt(t, fresh)
	if err != nil {
		c.lose(t, "%s: load: %v\n%s", p.text, err, contents(p.dir))
	}
	if p.err == nil {
		old = p.whole
	}
	if why := found.between(old, p.whole); why != "" {
		c.lose(t, "%s: %s\n%s\n%s", p.text, why, diagnose(found, old, p.whole), contents(p.dir))
	}
	if same, err := lookAt(t, st); err != nil || same != found {
		c.lose(t, "%s: the store itself finds other things: %v\n%s", p.text, err, diagnose(same, found, p.whole))
	}
	if !fresh.base.Free(victim) {
		c.lose(t, "%s: the lock is still held", p.text)
	}
	p.checkFiles(t, c, old, op)
	return found
}

// wholeScene returns what the session is when nothing fails.
func wholeScene(t *testing.T, s scene) look {
	t.Helper()
	st := openFaulty(t, testenv.Scratch(t), Relaxed, nil)
	for n, a := range after(s.before, s.act) {
		require.NoError(t, a.do(t, st, n+1), a.name)
	}
	l, err := lookAt(t, st)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	return l
}

var fileNames = regexp.MustCompile(`^(transcript\.jsonl|metadata\.json|config\.md)(\.backup)?(\.damaged-.*|\.bak-pre-salvage-.*)?$`)

// checkFiles looks for files that were left behind, and for the transcript
// before, which must be somewhere. Where nothing can be removed, and where the
// last copy has no other name, files may be left.
func (p *play) checkFiles(t *testing.T, c *tally, old look, op seam.Op) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.dir, victim))
	if err != nil {
		return // lookAt has judged that
	}
	messy := p.failer.Stays && p.failer.Err == syscall.EIO || op.Kind == seam.Remove || p.system.noExchange && (op.Kind == seam.Rename || op.Kind == seam.SyncDir)
	kept := old.rows == ""
	for _, e := range entries {
		if !messy && !fileNames.MatchString(e.Name()) {
			c.lose(t, "%s: %s is left behind", p.text, e.Name())
		}
		data, err := os.ReadFile(filepath.Join(p.dir, victim, e.Name()))
		require.NoError(t, err)
		kept = kept || strings.HasPrefix(string(data), old.rows)
	}
	if !kept {
		c.lose(t, "%s: the transcript before is gone\n%s", p.text, contents(p.dir))
	}
}

// goOn appends twice, as the same process or, when nothing could be written
// any more, as the next one. Then the power is cut. before is how many acts
// were acknowledged.
func (p *play) goOn(t *testing.T, c *tally, st *Store, before int, op seam.Op, found look) {
	t.Helper()
	if p.failer.Stays {
		st = openFaulty(t, p.dir, p.promise, p.system.seam(nil, p.rec.After))
		defer func() { require.NoError(t, st.Close()) }()
	}
	from := 0
	looks := slices.Repeat([]look{found}, before+1)
	rows := found.rows
	for n := range 2 {
		more := row(0, "more ", n)
		if err := st.Append(t.Context(), victim, more); err != nil {
			c.lose(t, "%s: append after it: %v\n%s", p.text, err, contents(p.dir))
		}
		rows += string(more.m.raw) + "\n"
		p.rec.Acknowledge()
		if n == 0 {
			from = p.rec.Len()
		}
		now := lookFresh(t, p.dir, p.system)
		if now.rows != rows || now.config != found.config || found.metadata != "" && now.metadata != found.counted(rows) {
			c.lose(t, "%s: after an append\n%s", p.text, diagnose(now, found, look{rows: rows, metadata: found.counted(rows)}))
		}
		looks = append(looks, now)
	}
	if p.promise != Relaxed {
		p.cutPower(t, c, from, looks)
	}
}

// cutPower examines a few states that a power cut leaves after operation from,
// at which the first of looks had been acknowledged.
func (p *play) cutPower(t *testing.T, c *tally, from int, looks []look) {
	t.Helper()
	log, err := p.rec.Log()
	require.NoError(t, err)
	r := &run{log: log, system: p.system, looks: looks, name: p.text, seed: p.seed}
	limit := 4
	if *sweep == "all" {
		limit = 200
	}
	r.examine(t, c, &crashsim.Crash{Log: log, Seed: r.seed, Max: limit, From: from, Ordered: p.system.ordered})
}

// descriptors returns the files of this process that are open below dir, where
// that can be told.
func descriptors(dir string) []string {
	entries, _ := os.ReadDir("/proc/self/fd")
	var open []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && strings.HasPrefix(to, dir) {
			open = append(open, to)
		}
	}
	return open
}
