package sessionstore

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
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
		{"save less, append", append(known[:len(known):len(known)], rewind(2)), add(1, 40)},
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
		{"delete", known, remove()},
		{"create what was deleted", []act{add(1, 40), remove()}, create()},
	}
}

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

// failOperations lets every operation of every act fail, in every way: of a
// durable store on all systems, of others on some.
func failOperations(t *testing.T, total *tally) {
	for _, d := range []Durability{Durable, DataSynced, Relaxed} {
		total.group(t, durabilities[d], func(t *testing.T, c *tally) {
			for _, s := range scenes() {
				t.Run(s.name, func(t *testing.T) { failScene(t, c, d, s) })
			}
		})
	}
}

func failScene(t *testing.T, c *tally, d Durability, s scene) {
	for _, sys := range systems {
		for _, f := range failures {
			if *sweep == "all" || usual(sys, d, f) {
				failEach(t, c, sys, d, s, f)
			}
		}
	}
}

// usual reports whether a failure is tried without a sweep.
func usual(sys system, d Durability, f failure) bool {
	switch {
	case testing.Short():
		return sys.name == "plain" && f.name == "EIO"
	case sys.name == "plain":
		return d == Durable || f.part == 0 && f.err == syscall.EIO
	}
	return d == Durable && (sys.noExchange || sys.noLink) && (f.name == "EIO" || f.name == "ENOSPC")
}

// failEach lets the first operation of the scene's act fail, then the second,
// until all have failed.
func failEach(t *testing.T, c *tally, sys system, d Durability, s scene, f failure) {
	t.Helper()
	for at := 0; ; at++ {
		failer := &fault.Failer{At: at, Err: f.err, Part: f.part, Stays: f.stays}
		p := &play{system: sys, promise: d, failer: failer, dir: scratch(t)}
		handles := descriptors(t)
		failed := p.run(t, c, s)
		if now := descriptors(t); len(now) > len(handles) {
			c.lose(t, "%s: files stay open: %q", p.text, now)
		}
		require.NoError(t, os.RemoveAll(p.dir))
		if !failed {
			return
		}
		c.points.Add(1)
	}
}

// A play is one run of a scene with one failure.
type play struct {
	system  system
	promise Durability
	failer  *fault.Failer
	dir     string

	rec   *fault.Recorder
	armed bool
	err   error // of the act
	text  string
}

func (p *play) before(op fault.Op) error {
	if !p.armed {
		return nil
	}
	return p.failer.Before(op)
}

// run reports whether an operation failed.
func (p *play) run(t *testing.T, c *tally, s scene) bool {
	t.Helper()
	var err error
	p.rec, err = fault.Record(p.dir)
	require.NoError(t, err)
	if !p.failer.Stays { // else it stands for a process that was killed
		p.failer.Refused = p.rec.Refused
	}
	st := openFaulty(t, p.dir, p.promise, p.system.seam(p.before, p.rec.After))
	defer func() { require.NoError(t, st.Close()) }()
	for n, a := range s.before {
		p.system.rest(t, st, false)
		require.NoError(t, a.do(t, st, n+1), a.name)
		p.rec.Acknowledge()
	}
	p.system.rest(t, st, false)
	old := lookFresh(t, p.dir, p.system)
	p.armed = true
	p.err = s.act.do(t, st, len(s.before)+1)
	p.armed = false
	op, failed := p.failer.Failed()
	p.text = s.name + ", " + durabilities[p.promise] + ", " + p.system.name + ": " + op.Kind.String() + " " + op.Name + ": " + p.failer.Err.Error()
	if p.err != nil {
		p.text += ": " + p.err.Error()
	}
	found := p.checkFailed(t, c, st, s, old, op)
	p.goOn(t, c, st, len(s.before), op, found)
	return failed
}

// checkFailed examines what is there after the act.
func (p *play) checkFailed(t *testing.T, c *tally, st *Store, s scene, old look, op fault.Op) look {
	t.Helper()
	whole := p.whole(t, s)
	fresh := openFaulty(t, p.dir, Durable, p.system.seam(nil, nil))
	defer func() { require.NoError(t, fresh.Close()) }()
	found, err := lookAt(t, fresh)
	if err != nil {
		c.lose(t, "%s: load: %v\n%s", p.text, err, contents(p.dir))
	}
	if p.err == nil {
		old = whole
	}
	if why := found.between(old, whole); why != "" {
		c.lose(t, "%s: %s\n%s\n%s", p.text, why, diagnose(found, old, whole), contents(p.dir))
	}
	if same, err := lookAt(t, st); err != nil || same != found {
		c.lose(t, "%s: the store itself finds other things: %v\n%s", p.text, err, diagnose(same, found, whole))
	}
	if !fresh.base.Free(victim) {
		c.lose(t, "%s: the lock is still held", p.text)
	}
	p.checkFiles(t, c, s, old, op)
	return found
}

// whole returns what the session is when nothing fails.
func (p *play) whole(t *testing.T, s scene) look {
	t.Helper()
	acts := append(s.before[:len(s.before):len(s.before)], s.act)
	dir := filepath.Join(p.dir, "..", filepath.Base(p.dir)+"-whole")
	st := openFaulty(t, dir, Relaxed, nil)
	for n, a := range acts {
		require.NoError(t, a.do(t, st, n+1), a.name)
	}
	l, err := lookAt(t, st)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	require.NoError(t, os.RemoveAll(dir))
	return l
}

var fileNames = regexp.MustCompile(`^(transcript\.jsonl|metadata\.json|config\.md)(\.backup)?(\.damaged-.*)?$`)

// checkFiles looks for files that were left behind, and for the transcript
// before, which must be somewhere. Where nothing can be removed, and where the
// last copy has no other name, files may be left.
func (p *play) checkFiles(t *testing.T, c *tally, s scene, old look, op fault.Op) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.dir, victim))
	if err != nil {
		return // lookAt has judged that
	}
	messy := p.failer.Stays && p.failer.Err == syscall.EIO || op.Kind == fault.Remove || p.system.noExchange && (op.Kind == fault.Rename || op.Kind == fault.SyncDir)
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
func (p *play) goOn(t *testing.T, c *tally, st *Store, before int, op fault.Op, found look) {
	t.Helper()
	if p.failer.Stays {
		st = openFaulty(t, p.dir, p.promise, p.system.seam(nil, p.rec.After))
		defer func() { require.NoError(t, st.Close()) }()
	}
	from := 0
	looks := slices.Repeat([]look{found}, before+1)
	rows := found.rows
	for n := range 2 {
		p.system.rest(t, st, op.Kind == fault.SyncDir)
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
		if now.rows != rows || now.config != found.config || found.metadata != "" && now.metadata != found.metadata {
			c.lose(t, "%s: after an append\n%s", p.text, diagnose(now, found, look{rows: rows}))
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
	r := &run{log: log, system: p.system, synced: p.promise != Durable, looks: looks, name: p.text}
	limit := 4
	if *sweep == "all" {
		limit = 200
	}
	r.examine(t, c, &fault.Crash{Log: log, Seed: 1, Max: limit, From: from, Ordered: p.system.ordered})
}

// descriptors returns the open files of this process, where that can be told.
// What the runtime opens for itself does not count.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, _ := os.ReadDir("/proc/self/fd")
	var open []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && strings.HasPrefix(to, "/") {
			open = append(open, to)
		}
	}
	return open
}
