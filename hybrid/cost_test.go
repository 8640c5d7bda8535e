package hybrid

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCostOfATurn counts what a turn writes, on the strict server.
func TestCostOfATurn(t *testing.T) {
	t.Parallel()
	logs := map[string][]string{
		"transcript": nil,
		"events":     {"events.jsonl"},
		"workflow":   {"phase_outputs.jsonl"},
		"everything": {"events.jsonl", "phase_outputs.jsonl", "session_conversation.jsonl", "state_history.jsonl"},
	}
	for _, name := range testenv.Some(t, 2, slices.Sorted(maps.Keys(logs))...) {
		files := logs[name]
		for _, size := range []int{1, 1 << 10, 16 << 10, 256<<10 - 200} {
			for _, redact := range []Redactor{nil, shout{"1"}, Secrets()} {
				rules := "exact"
				if redact != nil {
					rules = redact.Version()
				}
				if redact != nil && size > 16<<10 {
					continue // it takes long to look for secrets, and what is written is the same
				}
				t.Run(fmt.Sprint(name, " ", size, " ", rules), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { costOfATurn(t, files, size, redact) })
				})
			}
		}
	}
}

func costOfATurn(t *testing.T, files []string, size int, redact Redactor) {
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Redact = redact })
	a.say("s", "one", "two")
	a.sync()
	for turn := range 2 {
		line := noise(size)
		a.say("s", line, line)
		for _, f := range files {
			a.appendTo("s", f, fmt.Sprintf("{\"event\": \"x\", \"data\": %q}\n", line))
		}
		c.ResetCounters()
		a.sync()
		n := c.Counters()
		require.Equal(t, 1, n.ByKind["head"].Written)
		require.Zero(t, n.ByKind["chunk"].Written)
		require.Equal(t, 1, n.ByKind["cat"].Written, "a Sync tells the other devices")
		require.LessOrEqual(t, n.ByKind["seg"].Written, max(2, 1+len(files)), "one for each file that was written")
		require.Equal(t, 1, n.ByOp[cosmostest.OpRead].Requests)
		if size < 256<<10-200 || len(files) == 0 {
			require.Equal(t, 3, n.Total.Requests, "a point read, a batch and the entry in turn %d: %v", turn, n.ByOp)
		}
	}
}

// TestCostOfAChunk writes a line that is longer than a segment holds.
func TestCostOfAChunk(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one", "two")
	a.sync()
	for chunks, size := range map[int]int{1: 300 << 10, 2: 900 << 10} {
		a.say("s", noise(size), "answer")
		c.ResetCounters()
		a.sync()
		n := c.Counters()
		require.Equal(t, 1, n.ByKind["head"].Written)
		require.Equal(t, chunks, n.ByKind["chunk"].Written)
		require.LessOrEqual(t, n.ByKind["seg"].Written, 2)
	}
}

// TestCostOfTime lets a session be written each second for some minutes, and
// then lie for an hour.
func TestCostOfTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a", background)
		a.say("s", "one")
		time.Sleep(time.Minute)
		c.ResetCounters()
		minutes := testenv.Share(2, 2, 5)
		for i := range minutes * 60 {
			a.say("s", fmt.Sprint("turn ", i))
			time.Sleep(time.Second)
		}
		n := c.Counters()
		require.LessOrEqual(t, n.ByKind["cat"].Written, minutes*2+1)
		// A turn changes the transcript and the count in the metadata. A sync that
		// comes between both writes the head once more.
		between := minutes
		require.LessOrEqual(t, n.ByKind["head"].Written, minutes*60+between)
		require.LessOrEqual(t, n.ByKind["seg"].Written, minutes*60)
		// The hour begins and ends between two polls, which are a minute apart: at the
		// instant of a poll, its request would be counted or not by chance.
		time.Sleep(15*time.Minute + 30*time.Second)
		c.ResetCounters()
		time.Sleep(time.Hour)
		n = c.Counters()
		for partition, n := range n.ByPartition {
			require.False(t, strings.HasPrefix(partition, `["s-`), "%d requests for an idle session", n.Requests)
			require.LessOrEqual(t, n.Requests, 61, "one look at the catalogue each minute, for all sessions, and each hour whether it is still that one")
		}
		require.Equal(t, 60, n.ByOp[cosmostest.OpQuery].Requests, "one each minute")
		require.LessOrEqual(t, n.ByOp[cosmostest.OpRead].Requests, 1, "one each hour")
		require.Zero(t, n.Total.Written)
	})
}

// TestCostOfResuming asks whether a session is what the cloud has.
func TestCostOfResuming(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", noise(1<<20), "answer")
	a.put("s", "events.jsonl", events("x", 0, 50))
	a.sync()
	for range 2 {
		c.ResetCounters()
		a.sync("s")
		n := c.Counters()
		require.Equal(t, 1, n.Total.Requests)
		require.Equal(t, 1, n.ByOp[cosmostest.OpRead].Requests)
		require.LessOrEqual(t, n.Total.Charge, 2.0)
		require.NoError(t, a.Close())
		a = c.deviceAt(t, a.Dir(), "a")
	}
}

// TestCostOfAFork sends a fork of a long session. It is a session of its own: one upload,
// which a new device fetches without the parent.
func TestCostOfAFork(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	r := testenv.Rand(t)
	words := make([]byte, 100<<10)
	for i := range words {
		words[i] = "  etaoinshrdlcumwfgypbvk"[min(r.IntN(24), r.IntN(24))]
	}
	text := func(n int) string { at := r.IntN(len(words) - n); return string(words[at : at+n]) }
	for range 300 {
		a.say("s", text(600), text(1600))
	}
	a.sync()
	fork := a.fork("s")
	a.say(fork, "one question more")
	c.ResetCounters()
	got := a.sync(fork)
	sent := c.Counters().Total
	t.Logf("%d bytes: %d requests, %.0f units, %d bytes", len(a.file(fork, "transcript.jsonl")), sent.Requests, sent.Charge, got.Bytes)
	require.Equal(t, 3, sent.Requests, "a point read, a batch and the entry")
	require.LessOrEqual(t, sent.Charge, 200.0)
	b := c.device(t, "b")
	c.ResetCounters()
	b.pull(fork)
	fetched := c.Counters().Total
	t.Logf("fetched: %d requests, %.0f units", fetched.Requests, fetched.Charge)
	require.LessOrEqual(t, fetched.Requests, 6)
	require.LessOrEqual(t, fetched.Charge, 60.0)
	require.Equal(t, a.texts(fork), b.texts(fork))
}

// TestCostOfAHandover has two devices take turns, each in a process of its own or in one store:
// what the other device wrote costs the sync of a turn no request more.
func TestCostOfAHandover(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T) remote.Remote{
		"memory": func(*testing.T) remote.Remote { return &memremote.Remote{} },
		"dir": func(t *testing.T) remote.Remote {
			at := t.TempDir()
			require.NoError(t, dir.Provision(t.Context(), at))
			r, err := dir.Open(t.Context(), at)
			require.NoError(t, err)
			testenv.Cleanup(t, func() { require.NoError(t, r.Close()) })
			return r
		},
		"cosmos": func(t *testing.T) remote.Remote { return cosmos.New(newCloud(t, nil).container) },
	} {
		for _, bring := range []string{"refresh", "pull", "pull all", "sync"} {
			t.Run(name+" "+bring, func(t *testing.T) {
				t.Parallel()
				to, top := place(t), t.TempDir()
				for turn := range 6 {
					which := []string{"a", "b"}[turn%2]
					st, err := Open(t.Context(), filepath.Join(top, which), &Options{Remote: to, Project: "demo", User: "ada", Device: which, Manual: true})
					require.NoError(t, err)
					d := &testDevice{st, t}
					switch bring {
					case "refresh":
						if turn > 0 {
							d.refresh("s")
						}
					case "pull":
						if turn > 0 {
							d.pull("s")
						}
					case "pull all":
						d.pull()
					case "sync":
						_, err := d.Sync(t.Context(), "s")
						require.True(t, err == nil || turn == 0, "%v", err)
					}
					if turn > 0 {
						require.Len(t, d.texts("s"), turn)
					}
					d.say("s", fmt.Sprint("turn ", turn))
					got := d.sync("s")
					if turn > 1 || turn > 0 && (bring == "refresh" || bring == "pull all") {
						want := 3 // a read of the head, the lines with the head, and the entry
						if name == "dir" {
							want++ // which stores the lines by themselves
						}
						require.Equal(t, want, got.Requests, "turn %d", turn)
					}
					require.NoError(t, d.Close())
				}
			})
		}
	}
}
