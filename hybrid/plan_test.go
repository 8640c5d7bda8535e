package hybrid

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/internal/throttle"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPlanForecasts compares plans with what the strict server counts and
// charges for the sync that follows, over stores of all kinds. Documents and bytes
// are the same. Units differ as Plan documents: over 720 rounds by 5.6 at most, where
// another device had changed two sessions, and else by 3.7. In seed 2 compressed lines
// of another device make 6.4.
func TestPlanForecasts(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](2, 2, testenv.Further[uint64](6, 15)); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			testenv.Repeat(t, seed)
			synctest.Test(t, func(t *testing.T) { forecast(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func forecast(t *testing.T, r *rand.Rand) {
	c := newCloud(t, nil)
	var redact Redactor
	if r.IntN(3) == 0 {
		redact = Secrets()
	}
	rules := func(o *Options) { o.Redact = redact }
	a, b := c.device(t, "a", rules), c.device(t, "b", rules)
	f := &forecaster{testDevice: a, rand: r}
	for range 1 + r.IntN(8) {
		f.begin()
	}
	theirs := 0   // sessions that the other device changed since the last round
	packed := 0.0 // units that compression may save where their lines are read
	for round := range 4 {
		e, err := a.Plan(t.Context())
		require.NoError(t, err)
		c.ResetCounters()
		got := a.sync()
		n := c.Counters().Total
		t.Logf("round %d: %+v: %d documents, %d bytes, %.1f units", round, e, n.Written, got.Bytes, n.Charge)
		require.Equal(t, n.Written, e.Documents)
		require.Equal(t, got.Bytes, e.Bytes)
		within := 3 + 0.25*float64(got.Sessions) + 0.002*n.Charge
		require.LessOrEqual(t, e.RequestUnits, n.Charge+within+packed)
		require.GreaterOrEqual(t, e.RequestUnits, n.Charge-within-3*float64(theirs))
		theirs, packed = 0, 0
		time.Sleep(time.Duration(r.IntN(60)) * time.Second)
		if round == 1 {
			b.pull()
		}
		for range r.IntN(6) {
			f.change()
		}
		for _, id := range b.ids() {
			if r.IntN(4) == 0 && round > 1 {
				b.say(id, "b's way")
				b.sync(id)
				theirs++
				packed += throttle.ReadUnits(len(b.file(id, "transcript.jsonl")))
			}
		}
	}
}

// forecaster makes sessions of any size and changes them.
type forecaster struct {
	*testDevice
	rand *rand.Rand
	n    int
}

// text is of any size from a byte to a megabyte, often small.
func (f *forecaster) text() string {
	size := 1 << f.rand.IntN(21)
	if f.rand.IntN(3) > 0 {
		size = min(size, 4<<10)
	}
	b := make([]byte, size*3/4+1)
	for i := range b {
		b[i] = byte(f.rand.Uint32())
	}
	if f.rand.IntN(2) == 0 { // such as people write
		for i := range b {
			b[i] = "etaoin shrdlu, "[b[i]%15]
		}
		return string(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

func (f *forecaster) begin() {
	f.n++
	id := fmt.Sprint("s", f.n)
	for range 1 + f.rand.IntN(5) {
		f.say(id, f.text(), f.text())
	}
}

func (f *forecaster) change() {
	ids := f.ids()
	id := ids[f.rand.IntN(len(ids))]
	switch f.rand.IntN(8) {
	case 0:
		f.begin()
	case 1:
		f.cutTo(id, 1)
	case 2:
		f.put(id, "config.md", f.text())
	case 3:
		_, err := f.UpdateMetadata(f.t.Context(), id, func(md *sessionstore.Metadata) error { return md.Set("name", fmt.Sprint("name ", f.rand.Uint32())) })
		require.NoError(f.t, err)
	case 4, 5:
		f.appendTo(id, sessiondir.Logs[f.rand.IntN(4)], fmt.Sprintf("{\"event\": \"x\", \"data\": %q}\n", f.text()))
	default:
		f.say(id, f.text(), f.text())
	}
}
