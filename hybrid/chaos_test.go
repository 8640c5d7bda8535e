package hybrid

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var chaosSeeds = flag.Int("chaos.seeds", 0, "how many seeds TestChaos tries; 0: 3 with TEST_LONG set, else 2")

// TestChaos lets devices work on one session with faults and crashes, and
// looks whether a line was lost.
func TestChaos(t *testing.T) {
	t.Parallel()
	first := testenv.Seed(t)
	seeds := *chaosSeeds
	if seeds == 0 {
		seeds = testenv.Share(2, 2, 3)
	}
	for i := range seeds {
		seed := first + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			testenv.Repeat(t, seed, "-chaos.seeds=1")
			synctest.Test(t, func(t *testing.T) { newChaos(t, seed).run() })
		})
	}
}

type chaos struct {
	t       *testing.T
	cloud   *cloud
	rand    *rand.Rand
	devices []*chaosDevice
	written []string
}

type chaosDevice struct {
	*testDevice
	name, dir string
	offline   bool
	policy    Policy
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, cloud: newCloud(t, nil), rand: rand.New(rand.NewPCG(seed, 1))}
	for i := range 2 + c.rand.IntN(3) {
		d := &chaosDevice{name: fmt.Sprint("d", i), dir: filepath.Join(t.TempDir(), "sessions")}
		c.devices = append(c.devices, d)
		c.open(d, nil)
	}
	return c
}

func (c *chaos) open(d *chaosDevice, hooks *seam.Seam) {
	s, err := open(context.Background(), d.dir, &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Durability(c.rand.IntN(3))},
		Remote: cosmos.New(c.cloud.container), Project: "demo", User: "ada", Device: d.name, Manual: true, Conflict: d.policy,
	}, hooks)
	require.NoError(c.t, err)
	d.testDevice = &testDevice{s, c.t}
}

func (c *chaos) run() {
	defer func() {
		for _, d := range c.devices {
			requireClosed(c.t, d.Store)
		}
	}()
	c.weather()
	for range 60 {
		d := c.devices[c.rand.IntN(len(c.devices))]
		c.step(d)
		time.Sleep(time.Duration(c.rand.IntN(300)) * time.Second)
	}
	c.settle()
	c.check()
}

// weather makes requests fail now and then.
func (c *chaos) weather() {
	c.cloud.Inject(cosmostest.Data(cosmostest.Random(c.rand.Uint64(), 0.12,
		cosmostest.Drop(), cosmostest.LoseAnswer(), cosmostest.Refuse(http.StatusTooManyRequests, time.Second),
		cosmostest.Refuse(503, 0), cosmostest.Refuse(449, 0), cosmostest.Duplicate(), cosmostest.Fault{Retried: true},
		cosmostest.Fault{Echo: 2}, cosmostest.Fault{Stale: 3}, cosmostest.Fault{Page: 1},
		cosmostest.Delay(3*time.Second), cosmostest.Fault{Hold: 2 * time.Second})))
}

func (c *chaos) step(d *chaosDevice) {
	switch n := c.rand.IntN(20); {
	case n < 6:
		c.write(d)
	case n < 8:
		c.foreign(d)
	case n == 8:
		c.rewind(d)
	case n == 9:
		d.offline = !d.offline
	case n == 10:
		c.reopen(d, c.rand.IntN(2) == 0)
	case n == 11:
		c.crash(d)
	case n == 12:
		c.describe(d)
	case n == 13:
		_, _ = d.Pull(context.Background(), "s") // weather
	default:
		c.sync(d)
	}
}

func (c *chaos) record() string {
	text := fmt.Sprint("record ", len(c.written))
	if c.rand.IntN(20) == 0 {
		text += noise(50 << 10)
	}
	return text
}

func (c *chaos) write(d *chaosDevice) {
	text := c.record()
	d.say("s", text)
	c.written = append(c.written, text)
}

// foreign appends as the older Python tools do.
func (c *chaos) foreign(d *chaosDevice) {
	if !d.Exists("s") {
		return
	}
	text := c.record()
	m, err := sessionstore.Text("user", text, time.Time{})
	require.NoError(c.t, err)
	d.appendTo("s", "transcript.jsonl", string(m.AppendTo(nil))+"\n")
	c.written = append(c.written, text)
}

// rewind cuts a session that is in step, so that every line that goes is in
// the cloud.
func (c *chaos) rewind(d *chaosDevice) {
	if !d.Exists("s") || d.state("s").State != UpToDate {
		return
	}
	if n := len(d.texts("s")); n > 1 {
		d.cutTo("s", 1+c.rand.IntN(n-1))
	}
}

func (c *chaos) describe(d *chaosDevice) {
	if !d.Exists("s") {
		return
	}
	_, err := d.UpdateMetadata(context.Background(), "s", func(md *sessionstore.Metadata) error {
		return md.Set(fmt.Sprint("m", c.rand.IntN(3)), c.rand.IntN(1000))
	})
	require.NoError(c.t, err)
}

func (c *chaos) sync(d *chaosDevice) {
	if d.offline {
		return
	}
	_, err := d.Sync(context.Background())
	c.expected(err)
}

func (c *chaos) expected(err error) {
	if err == nil || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrContended) || errors.Is(err, ErrDeferred) || errors.Is(err, ErrDamaged) ||
		errors.Is(err, context.Canceled) {
		return
	}
	require.NoError(c.t, err)
}

func (c *chaos) reopen(d *chaosDevice, forget bool) {
	requireClosed(c.t, d.Store)
	if forget {
		require.NoError(c.t, os.RemoveAll(filepath.Join(d.dir, ".sessionstore", "sync")))
	}
	c.open(d, nil)
}

// crash ends a device at some operation on its disk or at some request.
func (c *chaos) crash(d *chaosDevice) {
	requireClosed(c.t, d.Store)
	fails := &crashsim.Failer{At: c.rand.IntN(40), Err: errors.New("crash"), Stays: true}
	if c.rand.IntN(2) == 0 {
		fails.At = -1
	}
	c.open(d, &seam.Seam{Before: fails.Before})
	ctx, cancel := context.WithCancel(context.Background())
	if fails.At < 0 {
		n := c.rand.IntN(10)
		c.cloud.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
			if n--; n < 0 {
				cancel()
				return cosmostest.Fault{Lose: c.rand.IntN(2) == 0, Drop: true}
			}
			return cosmostest.Fault{}
		}))
	}
	_, _ = d.Sync(ctx) // however far it comes
	cancel()
	_ = d.Close() // cannot write either
	c.weather()
	c.open(d, nil)
}

// settle lets everybody come into step.
func (c *chaos) settle() {
	c.cloud.Inject(nil)
	for range 6 {
		for _, d := range c.devices {
			time.Sleep(15 * time.Minute)
			if _, err := d.Sync(context.Background()); err != nil {
				c.t.Log(d.name, err)
			}
			if _, err := d.Pull(context.Background()); err != nil {
				c.t.Log(d.name, err)
			}
		}
	}
	for _, d := range c.devices {
		if len(c.written) > 0 && !d.Exists("s") {
			d.pull("s")
		}
		got, err := d.Sync(context.Background())
		require.NoError(c.t, err)
		require.Zero(c.t, got.Pushed, "%s is not in step", d.name)
	}
}

func (c *chaos) check() {
	if len(c.written) == 0 {
		return
	}
	main := c.devices[0].file("s", "transcript.jsonl")
	for _, d := range c.devices {
		require.Equal(c.t, main, d.file("s", "transcript.jsonl"), d.name)
		require.Equal(c.t, c.devices[0].file("s", "metadata.json"), d.file("s", "metadata.json"), d.name)
		_, err := d.Check(context.Background(), "s", nil)
		require.NoError(c.t, err)
	}
	kept := c.inCloud(c.devices[0].testDevice)
	branches, err := c.devices[0].Histories(context.Background(), "s")
	require.NoError(c.t, err)
	c.t.Logf("%d devices, %d lines written, %d in the main line, %d branches, %d requests, statuses %v",
		len(c.devices), len(c.written), strings.Count(main, "\n"), len(branches), c.cloud.Counters().Total.Requests, c.cloud.Counters().ByStatus)
	for _, text := range c.written {
		require.True(testenv.Lost(c.t), slices.Contains(kept, text), "lost: %.20s", text)
	}
}

// inCloud returns the texts of all histories that the cloud keeps of the
// session.
func (c *chaos) inCloud(d *testDevice) (texts []string) {
	ctx := context.Background()
	branches, err := d.Histories(ctx, "s")
	require.NoError(c.t, err)
	link := d.engine.Connect()
	main, _, err := link.Head(ctx, d.engine.SID("s"), remoteread.Known{})
	require.NoError(c.t, err)
	tips := []segment.Point{main.Transcript.Point()}
	for _, b := range branches {
		tips = append(tips, b.extent.Point())
	}
	infos, err := link.Segments(ctx, main, segment.Transcript, 0)
	require.NoError(c.t, err)
	for _, p := range tips {
		for line, err := range link.Lines(ctx, segment.Transcript, infos, segment.Origin(segment.Transcript), p, nil) {
			require.NoError(c.t, err)
			m, err := sessionstore.ParseMessage(line)
			require.NoError(c.t, err)
			texts = append(texts, m.Content())
		}
	}
	return texts
}
