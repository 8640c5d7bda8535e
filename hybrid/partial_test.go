package hybrid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// harm damages, or removes, the documents that match.
func (c *cloud) harm(t *testing.T, remove bool, matches func(cosmostest.Doc) bool) (n int) {
	t.Helper()
	for _, d := range c.Docs(testDatabase, testContainer) {
		if !matches(d) {
			continue
		}
		n++
		if remove {
			require.NoError(t, c.Remove(testDatabase, testContainer, d.Partition, d.ID))
			continue
		}
		require.NoError(t, c.Edit(testDatabase, testContainer, d.Partition, d.ID, func(body []byte) []byte {
			var doc map[string]any
			require.NoError(t, json.Unmarshal(body, &doc))
			doc["data"] = "AAAA"
			out, err := json.Marshal(doc)
			require.NoError(t, err)
			return out
		}))
	}
	return n
}

// isTranscriptFrom reports whether d is a segment of a transcript that begins at a record.
func isTranscriptFrom(d cosmostest.Doc, n int64) bool {
	in, err := segment.DecodeInfo(documentOf(d).PK, d.ID, documentOf(d).Label)
	return err == nil && in.Stream == segment.Transcript && in.From.N == n
}

func isEvents(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-e-") }

// TestPartialRestore restores a session of which an event document is damaged or
// missing, on a device that has none of it. The rest is installed, the result says what
// is missing, and it comes once another device has stored it again.
func TestPartialRestore(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]bool{"damaged": false, "missing": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.saveNew("s", "one")
			a.appendTo("s", "events.jsonl", events("a", 0, 5))
			a.appendTo("s", "phase_outputs.jsonl", events("p", 0, 5))
			a.sync()
			require.Equal(t, 1, c.harm(t, remove, isEvents))
			got := b.pull()
			require.Equal(t, 1, got.Pulled)
			require.Equal(t, []string{"s"}, sessions(got.Partial))
			require.ErrorIs(t, got.Partial[0].Err, ErrDamaged)
			require.ErrorContains(t, got.Partial[0].Err, "events.jsonl")
			require.NotContains(t, got.Partial[0].Err.Error(), "write sync", "the file here is in order")
			require.Empty(t, got.Failed)
			require.Equal(t, []string{"one"}, b.texts("s"))
			require.Equal(t, a.file("s", "metadata.json"), b.file("s", "metadata.json"))
			require.Equal(t, a.file("s", "phase_outputs.jsonl"), b.file("s", "phase_outputs.jsonl"))
			require.Len(t, b.pull().Partial, 1, "it is asked for each time")

			// Both go on meanwhile.
			a.saveOne("s", "two")
			a.appendTo("s", "events.jsonl", events("a", 5, 8))
			a.sync()
			b.refresh("s")
			require.Equal(t, []string{"one", "two"}, b.texts("s"))
			b.saveOne("s", "three")
			b.appendTo("s", "events.jsonl", events("b", 0, 3))
			b.sync()
			a.refresh("s")

			_, err := a.Check(t.Context(), "s", &CheckOptions{Mend: true})
			require.NoError(t, err)
			got = b.pull()
			require.Empty(t, got.Partial)
			logs, err := b.Logs(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, logs, 3)
			require.Equal(t, a.file("s", "transcript.jsonl"), b.file("s", "transcript.jsonl"))
			_, err = b.Check(t.Context(), "s", nil)
			require.NoError(t, err)
		})
	}
}

// TestPartialFiles does the same with metadata.
func TestPartialFiles(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.saveNew("s", "one")
	large := strings.Repeat(noise(1000), 400)
	a.put("s", "config.md", large)
	a.sync()
	require.Positive(t, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-c-") }))
	got := b.pull()
	require.Equal(t, []string{"s"}, sessions(got.Partial))
	require.ErrorContains(t, got.Partial[0].Err, "config.md")
	require.Equal(t, []string{"one"}, b.texts("s"))
	require.Len(t, b.pull("s").Partial, 1)
	b.saveOne("s", "two")
	_, err := b.Sync(t.Context())
	require.ErrorIs(t, err, ErrDamaged, "what came is told, and what was new here was sent")
	_, err = a.Check(t.Context(), "s", &CheckOptions{Mend: true})
	require.NoError(t, err)
	require.Empty(t, b.pull("s").Partial)
	require.Equal(t, large, b.file("s", "config.md"))
	a.refresh("s")
	require.Equal(t, []string{"one", "two"}, a.texts("s"))
}

// TestSyncMends removes a segment that a Sync needs, and that this device has the
// lines of.
func TestSyncMends(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	for i := range 3 {
		a.say("s", noise(100<<10))
		a.sync()
		if i == 0 {
			require.Equal(t, 1, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-t-") }))
		}
	}
	_, err := b.Pull(t.Context(), "s")
	require.ErrorIs(t, err, ErrDamaged)
	a.cutTo("s", 2)
	a.sync()
	b.pull("s")
	require.Equal(t, a.texts("s"), b.texts("s"))
	_, err = a.Check(t.Context(), "s", nil)
	require.NoError(t, err)
}

// TestLargeFileOnBothSides has two devices change a small file, which is too large
// to go on one of them. That stays, and everything else goes on.
func TestLargeFileOnBothSides(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"config.md", "metadata.json"} {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		b.engine.LargestFile = 1000
		a.saveNew(name, "one")
		a.put(name, "config.md", "first")
		a.sync()
		b.pull()
		large := "{\"large\": \"" + strings.Repeat("x", 1000) + "\"}"
		b.put(name, name, large)
		a.put(name, name, "{\"from\": \"a\"}")
		a.saveOne(name, "two")
		a.sync()
		got := b.pull()
		require.Equal(t, 1, got.Pulled)
		require.Equal(t, []string{name}, sessions(got.Partial))
		require.ErrorContains(t, got.Partial[0].Err, "larger than")
		require.NotErrorIs(t, got.Partial[0].Err, ErrDamaged)
		b.saveOne(name, "three")
		b.sync()
		b.sync()
		a.refresh(name)
		require.Equal(t, []string{"one", "two", "three"}, a.texts(name))
		if name == "config.md" {
			require.Equal(t, large, b.file(name, name))
		}
	}
}

// TestMendLeavesFormerHeads: a segment of which a line is damaged stays where a former head
// has lines of it that the device no longer has.
func TestMendLeavesFormerHeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		a.say("s", "one", noise(300<<10), "three", "four")
		whole := a.texts("s")
		a.sync()
		a.cutTo("s", 2)
		a.sync()
		require.Equal(t, 1, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-c-") }))
		r, err := a.Store.Check(t.Context(), "s", &CheckOptions{Mend: true})
		require.NoError(t, err)
		require.Equal(t, 1, r.Mended)
		r, err = a.Check(t.Context(), "s", nil)
		require.NoError(t, err)
		require.Empty(t, r.Problems)
		b := c.device(t, "b")
		b.pull("s")
		require.Equal(t, whole[:2], b.texts("s"))
		require.NotEmpty(t, c.stored(t, `"three"`), "no other document has it")
	})
}

// TestMendMergedSegments: a chunk is missing that a merged segment and the small one before
// it both lead to. After mending, pruning keeps what can be read.
func TestMendMergedSegments(t *testing.T) {
	t.Parallel()
	long := func(n int) string {
		return fmt.Sprintf("{\"ts\": \"2026-11-20T10:00:00\", \"event\": %q}\n", noise(n))
	}
	for _, at := range testenv.Some(t, 2, 0, 1, 5, 11) {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				a := c.device(t, "a")
				a.saveNew("s", "one")
				for i := range 12 {
					line := events("a", i, i+1)
					if i == at {
						line = long(700 << 10)
					}
					a.appendTo("s", "events.jsonl", line)
					a.sync()
				}
				a.appendTo("s", "events.jsonl", long(2<<20)+long(2<<20)) // what is merged has less than is behind it
				a.sync()
				r, err := a.Store.Prune(t.Context(), nil)
				require.NoError(t, err)
				require.NotZero(t, r.Merged)
				require.NotZero(t, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-c-") }))
				report, err := a.Store.Check(t.Context(), "s", &CheckOptions{Mend: true})
				require.NoError(t, err)
				require.NotZero(t, report.Mended)
				for i := range 6 {
					b := c.device(t, "b"+strconv.Itoa(i))
					b.pull("s")
					require.Equal(t, a.file("s", "events.jsonl"), b.file("s", "events.jsonl"))
					time.Sleep(8 * 24 * time.Hour)
					_, err := a.Store.Prune(t.Context(), nil)
					require.NoError(t, err)
				}
			})
		})
	}
}

// TestMendWithoutHistory: the document of a former head is lost, and what is damaged is mended
// nevertheless, whenever that is.
func TestMendWithoutHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		for range 3 {
			a.say("s", noise(100<<10))
			a.sync()
		}
		a.cutTo("s", 2)
		a.sync()
		require.Equal(t, 1, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-h-") }))
		for range 3 {
			require.NotZero(t, c.harm(t, false, func(d cosmostest.Doc) bool { return isTranscriptFrom(d, 0) }))
			r, err := a.Store.Check(t.Context(), "s", &CheckOptions{Mend: true})
			require.NoError(t, err)
			require.Equal(t, 1, r.Mended)
		}
	})
}

// TestRepairMeetsARemove: a session is removed when the first document was about to be stored
// again. Nothing of it stays.
func TestRepairMeetsARemove(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, m := c.meeting(t, "a", upload)
	b := c.device(t, "b")
	share([]*testDevice{a, b}, manyRequests()...)
	require.NotZero(t, c.harm(t, true, func(d cosmostest.Doc) bool { return strings.Contains(d.ID, "-c-") }))
	removed := map[string]int{}
	m.do = func() {
		require.NoError(t, b.Remove(t.Context(), "s"))
		removed = c.documents()
	}
	_, err := a.Store.Check(t.Context(), "s", &CheckOptions{Mend: true})
	require.ErrorIs(t, err, ErrRemoved)
	require.True(t, m.met.Load())
	require.Equal(t, removed, c.documents())
}

// TestNoRoomToCondemn: a partition has no room for a byte more. Prune and Remove
// remove documents nevertheless.
func TestNoRoomToCondemn(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*testDevice) error{
		"prune": func(d *testDevice) error {
			_, err := d.Prune(d.t.Context(), &PruneOptions{Grace: time.Hour, HistoryRetention: time.Nanosecond}, "full")
			return err
		},
		"remove": func(d *testDevice) error { return d.Remove(d.t.Context(), "full") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, &cosmostest.Options{PartitionBytes: 64 << 10})
				a := c.device(t, "a")
				a.say("full", noise(1<<10))
				a.sync("full")
				for range 5 {
					a.say("full", noise(4<<10))
					a.sync("full")
					a.cutTo("full", 1)
					a.sync("full")
				}
				padded := false
				for _, d := range c.Docs(testDatabase, testContainer) {
					if padded || !isTranscriptFrom(d, 1) {
						continue
					}
					padded = true
					require.NoError(t, c.Edit(testDatabase, testContainer, d.Partition, d.ID, func(body []byte) []byte {
						return fmt.Appendf(nil, `%s,"pad":%q}`, bytes.TrimSuffix(bytes.TrimSpace(body), []byte("}")), strings.Repeat("x", 64<<10))
					}))
				}
				require.True(t, padded)
				before := c.documents()["seg"]
				require.Greater(t, before, 1)
				time.Sleep(2 * time.Hour)
				require.NoError(t, remove(a))
				require.Less(t, c.documents()["seg"], before)
				require.Zero(t, c.documents()["history"])
			})
		})
	}
}
