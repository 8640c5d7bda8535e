package hybrid

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What the simulation found, each in as few steps as it takes.

func TestMetadataThatIsGoneComesBack(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.sync()
	want := a.file("s", "metadata.json")
	require.NoError(t, os.Remove(filepath.Join(a.Dir(), "s", "metadata.json"))) // as a power cut takes a name
	a.sync()
	require.Equal(t, want, a.file("s", "metadata.json"))
	require.Equal(t, UpToDate, a.state("s").State)
}

func TestPullFetchesLogsOfATipThatSyncKnows(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	a.put("s", "events.jsonl", "{\"event\": \"x\"}\n")
	a.sync()
	b.sync() // reads the head, and fetches no logs
	b.pull()
	logs, err := b.Logs(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0].Path)
	require.NoError(t, err)
	require.Equal(t, "{\"event\": \"x\"}\n", string(text))
	require.Zero(t, b.pull().Sessions, "nothing is new")
}

func TestPullBringsWhatSyncLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(simStart))
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		a.say("left", "one")
		a.sync()
		b.pull()
		hold, err := b.Acquire(t.Context(), "left", sessionstore.Owner{App: "test"})
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("no ownership locks on this system")
		}
		require.NoError(t, err)
		a.say("left", "two")
		a.sync()
		b.sync()
		require.Equal(t, Behind, b.state("left").State)
		require.NoError(t, hold.Release())
		require.Equal(t, 1, b.pull().Pulled)
		require.Equal(t, []string{"one", "two"}, b.texts("left"))
	})
}

func TestDamagedMetadataDoesNotLeave(t *testing.T) {
	t.Parallel()
	for _, backup := range []bool{false, true} {
		t.Run(fmt.Sprint("backup ", backup), func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.say("s", "one")
			a.sync()
			b.pull()
			want := a.file("s", "metadata.json")
			if backup {
				a.put("s", "metadata.json.backup", want)
			}
			a.put("s", "metadata.json", strings.Repeat("\x00", len(want)))
			a.sync()
			a.sync()
			b.sync()
			require.Equal(t, want, b.file("s", "metadata.json"))
			aside, err := filepath.Glob(filepath.Join(a.Dir(), "s", "metadata.json.damaged-*"))
			require.NoError(t, err)
			if backup {
				require.Empty(t, aside, "it is the store's to mend")
				return
			}
			require.Len(t, aside, 1)
			require.Equal(t, want, a.file("s", "metadata.json"))
		})
	}
}

// TestPowerCutIsNoRewind: what a store without syncs loses in a power cut was
// not sent, or else the loss would go to all devices.
func TestPowerCutIsNoRewind(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one", "two")
	a.put("s", "events.jsonl", "{}\n")
	a.sync()
	dir := filepath.Join(t.TempDir(), "sessions")
	require.NoError(t, os.Mkdir(dir, 0o700))
	rec, err := crashsim.Record(dir)
	require.NoError(t, err)
	s, err := open(t.Context(), dir, &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "b", Manual: true,
	}, &seam.Seam{After: rec.After})
	require.NoError(t, err)
	b := &testDevice{s, t}
	b.pull()
	b.holdsThroughPowerCuts(rec, "s")
	b.say("s", "three")
	_, err = b.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error { return md.Set("name", "x") })
	require.NoError(t, err)
	b.sync()
	b.holdsThroughPowerCuts(rec, "s")
	require.NoError(t, b.Close())
}

// holdsThroughPowerCuts requires the session as it stands in all states of the
// disk that a power cut may leave now.
func (r *testDevice) holdsThroughPowerCuts(rec *crashsim.Recorder, id string) {
	log, err := rec.Log()
	require.NoError(r.t, err)
	n := 0
	for s, err := range (&crashsim.Crash{Log: log, Tears: 8, Max: 500, From: len(log.Steps), To: len(log.Steps)}).States(nil) {
		require.NoError(r.t, err)
		for _, name := range []string{"transcript.jsonl", "metadata.json", "events.jsonl"} {
			got, err := s.ReadFile(id + "/" + name)
			require.NoError(r.t, err, "%v: %s", s, name)
			require.Equal(r.t, r.file(id, name), string(got), "%v: %s", s, name)
		}
		n++
	}
	require.Positive(r.t, n)
}
