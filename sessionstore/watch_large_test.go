package sessionstore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestWatchLarge watches 10,000 sessions, or 300. It logs what it measures with
// the clock on the wall, hence its long form is not parallel.
func TestWatchLarge(t *testing.T) {
	sessions, quiet := 10_000, 3*time.Second
	if !testenv.Long() {
		t.Parallel()
		sessions, quiet = 300, 300*time.Millisecond
	}
	st := openWatched(t)
	for i := range sessions {
		for _, name := range []string{"transcript.jsonl", "metadata.json", "events.jsonl"} {
			put(t, st, fmt.Sprint("session-", i), name, "")
		}
	}
	start := time.Now()
	w, err := st.Watch(t.Context())
	require.NoError(t, err)
	t.Log("in place after", time.Since(start))

	idle, before := time.Now(), processorTime()
	time.Sleep(quiet)
	t.Logf("watching takes %.1f %% of a core", 100*float64(processorTime()-before)/float64(time.Since(idle)))

	seed := testenv.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	shortest, longest := time.Hour, time.Duration(0)
	const promised = 2 * time.Second // a busy machine may keep it waiting now and then
	for i := 0; i < 8 || i < 40 && shortest >= promised; i++ {
		id, name := fmt.Sprint("session-", random.IntN(sessions)), watch.Files[random.IntN(3)]
		start := time.Now()
		appendTo(t, st, id, name, "{}\n")
		await(t, w, Change{ID: id, File: name})
		took := time.Since(start)
		shortest, longest = min(shortest, took), max(longest, took)
	}
	t.Log("until a change was seen", shortest, "to", longest)
	require.Less(t, shortest, promised)
}
