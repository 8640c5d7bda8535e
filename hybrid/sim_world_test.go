package hybrid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func defaultSeeds() int {
	if testenv.Thorough() {
		return 12
	}
	return 4
}

// simRecord finds the mark that each record has, whatever line holds it.
var simRecord = regexp.MustCompile(`rec-[0-9]+;`)

// world is one seed of the simulation.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	weights []simStep
	sum     *simTally
	srv     *cosmostest.Server
	reader  *simReader
	devices []*gadget
	forks   int

	acked     map[string]*ackedRecord // what a write has acknowledged
	withdrawn map[string]bool         // cut, removed or overwritten before they reached the cloud
	buried    map[string]bool         // sessions that somebody removed from the cloud, or tried to
}

// ackedRecord is where a record was acknowledged.
type ackedRecord struct {
	session string
	by      *gadget
}

// gadget is a device.
type gadget struct {
	*Store
	name, dir string
	life      *life
	policy    Policy
	running   bool               // its worker syncs in the background
	pythons   map[string]*python // other programs that have a session open, by its id
	removed   map[string]bool    // sessions removed here, and whether they must stay so
}

func newWorld(t *testing.T, seed uint64, weights []simStep, sum *simTally) *world {
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 6)), weights: weights, sum: sum,
		acked: map[string]*ackedRecord{}, withdrawn: map[string]bool{}, buried: map[string]bool{},
	}
	w.reader = newSimReader()
	w.srv = cosmostest.New(&cosmostest.Options{Observe: w.reader.observe})
	w.reader.srv = w.srv
	require.NoError(t, Provision(context.Background(), dial(t, w.srv, w.srv.Key()), testDatabase, testContainer))
	for i := range 2 + w.rand.IntN(4) {
		w.add(fmt.Sprint("d", i))
	}
	return w
}

func (w *world) add(name string) *gadget {
	d := &gadget{
		name: name, dir: filepath.Join(w.t.TempDir(), "sessions"), running: w.rand.IntN(2) == 0,
		policy: Policy(max(0, w.rand.IntN(6)-3)), pythons: map[string]*python{}, removed: map[string]bool{},
	}
	w.devices = append(w.devices, d)
	w.open(d)
	return d
}

// open starts a device. Its store, and what it asks the network, end together
// when it crashes.
func (w *world) open(d *gadget) {
	offline := d.life != nil && d.life.offline
	d.life = &life{next: w.srv.Transport(), left: -1, offline: offline}
	cred, err := azcosmos.NewKeyCredential(w.srv.Key())
	require.NoError(w.t, err)
	client, err := azcosmos.NewClientWithKey(w.srv.Endpoint(), cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: d.life},
	})
	require.NoError(w.t, err)
	w.t.Cleanup(client.Close)
	container, err := client.NewContainer(testDatabase, testContainer)
	require.NoError(w.t, err)
	d.Store, err = open(context.Background(), d.dir, &Options{
		Store:     &sessionstore.Options{Durability: sessionstore.Durability(w.rand.IntN(3)), Workspace: filepath.Dir(d.dir)},
		Container: container, Project: "demo", User: "ada", Device: d.name,
		Disabled: !d.running, Conflict: d.policy,
	}, &fault.Seam{Before: d.life.before})
	require.NoError(w.t, err)
}

// reopen starts a device anew, perhaps without what it knew of the cloud. With
// that it forgets which sessions were removed here.
func (w *world) reopen(d *gadget, forget bool) {
	err := d.Close()
	if !d.life.dead() {
		require.NoError(w.t, err)
	}
	if forget {
		require.NoError(w.t, os.RemoveAll(filepath.Join(d.dir, ".sessionstore", "sync")))
		clear(d.removed)
	}
	w.open(d)
}

// life is a device's disk and network, up to a crash.
type life struct {
	next policy.Transporter

	mu      sync.Mutex // guards what follows
	left    int        // steps up to the crash; negative: there is none
	crashed bool
	offline bool
}

var errCrash = errors.New("the device crashed")

// step counts one change of the disk or one half of a request.
func (l *life) step() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		l.crashed = true
	}
	if l.crashed {
		return errCrash
	}
	if l.left > 0 {
		l.left--
	}
	return nil
}

func (l *life) before(fault.Op) error { return l.step() }

func (l *life) dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crashed
}

func (l *life) set(offline bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offline = offline
}

func (l *life) cut(after int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = after
}

// Do sends a request, or loses it or its answer. What the SDK keeps about the
// account for the whole process is always there.
func (l *life) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/" || r.URL.Path == "" {
		return l.next.Do(r)
	}
	l.mu.Lock()
	offline := l.offline
	l.mu.Unlock()
	if offline {
		return nil, errors.New("no network")
	}
	if err := l.step(); err != nil {
		return nil, err
	}
	answer, err := l.next.Do(r)
	if gone := l.step(); gone != nil && err == nil {
		return nil, errors.Join(gone, answer.Body.Close())
	}
	return answer, err
}

// run is one seed.
func (w *world) run() {
	defer func() {
		for _, d := range w.devices {
			w.endPythons(d)
			require.NoError(w.t, d.Close())
		}
		w.sum.checks.Add(int64(w.reader.checks))
		w.sum.bad.Add(int64(len(w.reader.problems)))
		w.sum.records.Add(int64(len(w.acked)))
	}()
	for i := range 1 + w.rand.IntN(3) {
		w.begin(w.pick(), fmt.Sprint("s", i))
	}
	for round := range 2 {
		w.weather()
		for range *simSteps / 2 {
			w.act()
			time.Sleep(time.Duration(w.rand.IntN(300)) * time.Second)
		}
		w.settle()
		w.check()
		w.rewindInCalm(round == 1)
	}
	w.restoreElsewhere()
	w.sum.converged.Add(1)
}

// weather makes requests fail now and then.
func (w *world) weather() {
	anything := cosmostest.Random(w.rand.Uint64(), 0.10,
		cosmostest.Drop(), cosmostest.LoseAnswer(), cosmostest.Refuse(http.StatusTooManyRequests, time.Second),
		cosmostest.Refuse(503, 0), cosmostest.Refuse(449, 0), cosmostest.Duplicate(), cosmostest.Fault{Retried: true},
		cosmostest.Fault{Echo: 2}, cosmostest.Fault{Stale: 3}, cosmostest.Fault{Page: 1}, cosmostest.Fault{Page: -1},
		cosmostest.Delay(3*time.Second), cosmostest.Fault{Hold: 2 * time.Second})
	races := cosmostest.Random(w.rand.Uint64(), 0.03, cosmostest.Refuse(412, 0))
	w.srv.Inject(cosmostest.Data(cosmostest.First(anything, func(r cosmostest.Request) cosmostest.Fault {
		if r.Op == cosmostest.OpBatch || r.Op == cosmostest.OpReplace {
			return races(r)
		}
		return cosmostest.Fault{}
	})))
}

func (w *world) pick() *gadget { return w.devices[w.rand.IntN(len(w.devices))] }
