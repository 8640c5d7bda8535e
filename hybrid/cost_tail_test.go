package hybrid

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var mergedMB = flag.Int("merged.mb", 0, "the size of the log of TestCostOfPullingAMergedEvent, in MB; 0: 0 and 8 with TEST_LONG set, else 0 and 1")

// TestCostOfPullingAMergedEvent lets a log grow push by push. Again and again one
// event is pushed, pruning merges it with others until nothing is left to be merged,
// and the small documents are gone. Then a device pulls that one event.
func TestCostOfPullingAMergedEvent(t *testing.T) {
	t.Parallel()
	sizes := testenv.Share([]int{0}, []int{0, 1}, testenv.Further([]int{0, 8}, []int{0, 1, 8, 40}))
	if *mergedMB > 0 {
		sizes = []int{*mergedMB}
	}
	for _, mb := range sizes {
		t.Run(fmt.Sprint(mb, " MB"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { pullMergedEvents(t, mb<<20) })
		})
	}
}

func pullMergedEvents(t *testing.T, bytes int) {
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	a.sync()
	n, held := 0, ""
	if bytes > 0 {
		n = a.fillEvents("s", bytes, min(40, bytes>>17))
		held = a.file("s", "events.jsonl")
	}
	grow := func(size int) {
		line := eventOf(n, size)
		n++
		held += line
		a.appendTo("s", "events.jsonl", line)
		a.sync()
	}
	merged := 0
	rounds := testenv.Share(4, 6, 30)
	if bytes > 1<<20 {
		rounds = 6
	}
	for round := range rounds {
		for i := range 3 + 5*(round%4) {
			grow([]int{100, 4<<10 - 100, 30 << 10, 90 << 10}[(i+round)%4])
		}
		if round%5 == 4 {
			grow(300 << 10) // in chunks
		}
		require.Empty(t, b.pull("s").Failed)
		grow(4<<10 - 100)
		for i := 0; ; i++ {
			require.Less(t, i, 10)
			time.Sleep(time.Hour)
			got := a.prune(atOnceOf(), "s")
			merged += got.Merged
			if got.Merged+got.Removed+got.Waiting == 0 {
				break
			}
		}
		a.sync()
		c.ResetCounters()
		require.Empty(t, b.pull("s").Failed)
		require.LessOrEqual(t, c.Counters().Total.Charge, 30.0, "round %d", round)
		require.Equal(t, held, read(t, b.otherLog("s", "events.jsonl")))
	}
	require.Greater(t, merged, 15)
	require.Equal(t, held, a.file("s", "events.jsonl"))
}

// TestCostOfPullingAfterARepair removes the documents of a log, so that the device
// that has it stores it again, while another one lacks its last event.
func TestCostOfPullingAfterARepair(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	a.sync()
	grow := func(n, size int) {
		a.appendTo("s", "events.jsonl", eventOf(n, size))
		a.sync()
	}
	for i := range 12 {
		grow(i, 30<<10)
	}
	b.pull("s")
	grow(12, 4<<10-100)
	for _, d := range c.Docs(testDatabase, testContainer) {
		if strings.Contains(d.ID, "-e-") {
			require.NoError(t, c.Remove(testDatabase, testContainer, d.Partition, d.ID))
		}
	}
	report, err := a.Check(t.Context(), "s", &CheckOptions{Mend: true})
	require.NoError(t, err)
	require.Positive(t, report.Mended)
	c.ResetCounters()
	require.Empty(t, b.pull("s").Failed)
	require.LessOrEqual(t, c.Counters().Total.Charge, 30.0)
	require.Equal(t, a.file("s", "events.jsonl"), read(t, b.otherLog("s", "events.jsonl")))
}
