package hybrid

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// simRecord finds the mark that each record has, whatever line holds it.
var simRecord = regexp.MustCompile(`rec-[0-9]+;`)

// world is one seed of the simulation.
type world struct {
	t       *testing.T
	seed    uint64
	rand    *rand.Rand
	weights []simStep
	sum     *simTally
	place   simPlace
	reader  *simReader
	order   *order
	trace   *trace
	rules   Redactor // of all devices
	ruled   bool     // some device had rules of its own
	devices []*gadget
	forks   int
	length  int // steps that it takes
	steps   int
	waits   atomic.Int64 // that faults asked for

	acked     map[string]*ackedRecord    // what a write has acknowledged
	withdrawn map[string]bool            // cut, removed or overwritten before they reached the cloud
	copied    map[string]bool            // given up with a branch of their session, and in the cloud in the session that keeps it
	begun     map[string][]*cloudSession // what the cloud had of sessions when a Recreate of them began
	promises
	buried    map[string]bool // sessions that somebody removed from the cloud, or tried to
	recreated map[string]bool // sessions that somebody brought back after that
}

// ackedRecord is where a record was acknowledged.
type ackedRecord struct {
	session string
	by      *gadget
	kind    string // file that holds it
}

// gadget is a device.
type gadget struct {
	*Store
	name, dir string
	life      *life
	skew      time.Duration // of its clock
	rules     Redactor
	policy    Policy
	safe      sessionstore.Durability
	running   bool               // its worker syncs in the background
	opened    int                // how often it was started
	pythons   map[string]*python // other programs that have a session open, by its id
	removed   map[string]bool    // sessions removed here, and whether they must stay so
}

// trace is what happened, for comparing two runs of a seed.
type trace struct {
	keep bool // the lines, not only their sum

	mu    sync.Mutex // guards what follows
	sum   hash.Hash
	lines []string
}

func (tr *trace) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	_, _ = fmt.Fprintln(tr.sum, line)
	if tr.keep {
		tr.lines = append(tr.lines, line)
	}
}

func newWorld(t *testing.T, seed uint64, place string, weights []simStep, sum *simTally) *world {
	w := &world{
		t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 6)), weights: weights, sum: sum, trace: &trace{sum: sha256.New()},
		order: newOrder(rand.New(rand.NewPCG(seed, 7))),
		acked: map[string]*ackedRecord{}, withdrawn: map[string]bool{}, copied: map[string]bool{}, begun: map[string][]*cloudSession{}, buried: map[string]bool{}, recreated: map[string]bool{},
	}
	w.reader = newSimReader(func() []held { return w.place.held() })
	w.place = newPlace(w, place)
	if w.rand.IntN(3) == 0 {
		w.rules = &simRules{}
	}
	w.initPromises()
	return w
}

// observe takes note of a request that is over.
func (w *world) observe(r cosmostest.Record) {
	if r.Op.Data() {
		w.trace.note("%d %s %s %s %d", r.At.Sub(simStart), r.Op, r.Partition, r.ID, r.Status)
	}
	if err := w.reader.never(r.Body); err != nil {
		w.reader.blame(fmt.Sprintf("request %d (%s): %v", r.N, r.Op, err))
	}
	w.reader.observe(r)
}

// sleep is how the server waits. No two requests wake up at once.
func (w *world) sleep(ctx context.Context, d time.Duration) error {
	return jitter.Pause(ctx, d+time.Duration(w.waits.Add(1))*time.Microsecond, nil)
}

func (w *world) add(name string) *gadget {
	d := &gadget{
		name: name, dir: filepath.Join(w.t.TempDir(), "sessions"), running: w.rand.IntN(2) == 0, rules: w.rules,
		policy: Policy(max(0, w.rand.IntN(6)-3)), pythons: map[string]*python{}, removed: map[string]bool{},
		safe: sessionstore.Durability(w.rand.IntN(3)),
	}
	if w.rand.IntN(6) == 0 {
		d.skew = []time.Duration{time.Hour, -time.Hour}[w.rand.IntN(2)]
	}
	w.devices = append(w.devices, d)
	w.open(d)
	return d
}

// open starts a device. Its store, and what it asks the network, end together
// when it crashes.
func (w *world) open(d *gadget) {
	was := d.life
	d.life = &life{name: d.name, order: w.order, skew: d.skew, end: func() {}, left: -1}
	if was != nil {
		was.end()
		d.life.offline, d.life.refusal = was.offline, was.refusal
	}
	r := w.place.connect(d.life)
	d.opened++
	luck := jitter.New(sha256.Sum256(fmt.Append(nil, w.seed, d.name, d.opened)))
	limits := &Limits{}
	limits.once.Do(func() { limits.budget = throttle.NewBudget(0, luck) })
	var err error
	d.Store, err = open(context.Background(), d.dir, &Options{
		Store:  &sessionstore.Options{Durability: d.safe, Workspace: filepath.Dir(d.dir), Now: d.life.now},
		Remote: r, Project: "demo", User: "ada", Device: d.name, Limits: limits,
		Manual: !d.running, Background: Background{Interval: 4 * time.Minute}, Conflict: d.policy, Redact: d.rules, Private: []string{denied + "*"},
	}, d.life.seam(), func(e *engine) { e.Random, e.Alone = luck, true })
	require.NoError(w.t, err)
	w.breathe()
}

// breathe lets everything that was begun come to a point where it waits.
func (w *world) breathe() {
	w.steps++
	time.Sleep(time.Duration(w.steps) * 997) // a time of its own, which no other clock strikes
}

// reopen starts a device anew, perhaps without what it knew of the cloud. With
// that it forgets which sessions were removed here.
func (w *world) reopen(d *gadget, forget bool) {
	err := d.Close()
	if !d.life.dead() && !errors.Is(err, ErrDeferred) {
		require.NoError(w.t, err)
	}
	if forget {
		require.NoError(w.t, os.RemoveAll(filepath.Join(d.dir, ".sessionstore", "sync")))
		clear(d.removed)
		w.forgot(d)
	}
	w.open(d)
}

// run is one seed.
func (w *world) run() {
	ctx, cancel := context.WithCancel(context.Background())
	go w.order.run(ctx)
	defer func() {
		for _, d := range w.devices {
			w.endPythons(d)
			requireClosed(w.t, d.Store)
			d.life.end()
		}
		cancel()
		<-w.order.done
		w.sum.checks.Add(int64(w.reader.checks))
		w.sum.bad.Add(int64(len(w.reader.problems)))
		w.sum.records.Add(int64(len(w.acked)))
	}()
	for i := range 2 + w.rand.IntN(4) {
		w.add(fmt.Sprint("d", i))
	}
	for i := range 1 + w.rand.IntN(3) {
		w.begin(w.pick(), fmt.Sprint("s", i))
	}
	w.beginPrivate(w.pick())
	for round := range 2 {
		w.weather()
		for range w.length / 2 {
			// A store owns a session for a moment after a write. Whoever waits for
			// it then, waits for a time that no seed decides.
			time.Sleep(time.Duration(1+w.rand.IntN(300)) * time.Second)
			w.step()
		}
		w.settle()
		w.check()
		w.keepPromises()
		w.rewindInCalm(round == 1)
	}
	w.restoreElsewhere()
	w.sum.converged.Add(1)
}

// weather makes requests fail now and then, and take so long that several devices are at it.
func (w *world) weather() {
	faults := []cosmostest.Fault{
		cosmostest.Drop(), cosmostest.LoseAnswer(), cosmostest.Refuse(http.StatusTooManyRequests, time.Second),
		cosmostest.Refuse(503, 0), cosmostest.Refuse(449, 0),
		{Retried: true},
		{Echo: 2},
		{Stale: 3},
		{Page: 1},
		{Page: -1},
		{Hold: 2 * time.Second},
	}
	if _, is := w.place.(*doors); is {
		faults = append(faults, cosmostest.Fault{Drop: true, Echo: 2}, cosmostest.Fault{Operation: 1 + w.rand.IntN(3)})
	}
	anything := cosmostest.Random(w.rand.Uint64(), 0.10, faults...)
	races := cosmostest.Random(w.rand.Uint64(), 0.03, cosmostest.Refuse(412, 0))
	pace := cosmostest.Random(w.rand.Uint64(), 0.40, cosmostest.Delay(2*time.Second), cosmostest.Delay(15*time.Second), cosmostest.Delay(40*time.Second))
	w.place.inject(cosmostest.Data(cosmostest.First(anything, func(r cosmostest.Request) cosmostest.Fault {
		if r.Op == cosmostest.OpBatch || r.Op == cosmostest.OpReplace {
			return races(r)
		}
		return cosmostest.Fault{}
	}, pace)))
}

func (w *world) pick() *gadget { return w.devices[w.rand.IntN(len(w.devices))] }
