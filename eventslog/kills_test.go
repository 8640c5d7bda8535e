package eventslog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var killsFlag = flag.Int("kills", 0, "how many children TestKills kills; 0: 130 with TEST_LONG set, else 8")

func killRounds() int {
	if *killsFlag > 0 {
		return *killsFlag
	}
	return testenv.Share(6, 8, 130)
}

// appender is what an appending child is told.
type appender struct {
	Dir    string
	Sync   bool
	Batch  int // most events of one call
	Lanes  int // goroutines
	Calls  int // of each lane; 0: until it is killed
	Seed   uint64
	Prefix string // of the events' names
}

// appenderChild appends batches and tells of each before and after.
func appenderChild(_, argument string) error {
	var a appender
	if err := json.Unmarshal([]byte(argument), &a); err != nil {
		return err
	}
	l, err := open(a.Dir, &Options{Sync: a.Sync}, testenv.KillPoint())
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var wg sync.WaitGroup
	for lane := range a.Lanes {
		wg.Go(func() { a.lane(l, lane) })
	}
	wg.Wait()
	return l.Close()
}

func (a appender) lane(l *Log, lane int) {
	r := rand.New(rand.NewPCG(a.Seed, uint64(lane)))
	for call := 0; a.Calls == 0 || call < a.Calls; call++ {
		events := make([]Event, 1+r.IntN(a.Batch))
		for i := range events {
			size := 10 << r.IntN(16) // up to 320 KB
			events[i] = Event{Name: fmt.Sprintf("%s.%d.%d.%d", a.Prefix, lane, call, i), Data: map[string]any{"text": strings.Repeat("wörter\n", size/7)}}
		}
		fmt.Printf("begin %s.%d.%d %d\n", a.Prefix, lane, call, len(events))
		if err := l.Append(context.Background(), events...); err != nil {
			fmt.Println("failed", err)
			return
		}
		fmt.Printf("done %s.%d.%d %d\n", a.Prefix, lane, call, len(events))
	}
}

// TestKills kills children that append to one log, again and again. What was
// acknowledged is there, and nothing that was not attempted; a torn event, of a
// child or of another writer, harms none but itself.
func TestKills(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name string
		appender
	}{
		{"single", appender{Batch: 1, Lanes: 1}},
		{"single, synced", appender{Batch: 1, Lanes: 1, Sync: true}},
		{"batches", appender{Batch: 30, Lanes: 1}},
		{"batches, synced, of four", appender{Batch: 10, Lanes: 4, Sync: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := kills{appender: c.appender, random: testenv.Rand(t), begun: map[string]bool{}, done: map[string]bool{}}
			k.Dir = filepath.Join(t.TempDir(), "sess")
			torn := 0
			v := testenv.Victim{
				Name: "appender", Dir: k.Dir, Rounds: (killRounds() + i) / 4, Operations: 30, First: 15,
				Within: 100 * time.Millisecond, Acknowledges: func(line string) bool { return strings.HasPrefix(line, "done ") },
			}
			for round := range v.Rounds {
				k.round(t, v, round)
				torn = max(torn, k.check(t))
			}
			fmt.Printf("%s: %d events acknowledged, %d lines torn\n", t.Name(), k.acknowledged, torn)
			require.Positive(t, k.acknowledged)
			require.Positive(t, torn, "the test itself tears lines")
		})
	}
}

type kills struct {
	appender
	random       *rand.Rand
	begun, done  map[string]bool // events in the log as it is
	acknowledged int             // events, in all logs
}

// round lets a child append and kills it, and may then tear the log's tail.
func (k *kills) round(t *testing.T, v testenv.Victim, round int) {
	k.Prefix, k.Seed = fmt.Sprint("r", round), k.random.Uint64()
	v.Argument = encoded(t, k.appender)
	v.Kill(t, round, k.random, func(line string) {
		if line == "ready" {
			return
		}
		var what, name string
		var n int
		_, err := fmt.Sscanf(line, "%s %s %d", &what, &name, &n)
		require.NoError(t, err, line)
		into := map[string]map[string]bool{"begin": k.begun, "done": k.done}[what]
		for i := range n {
			into[fmt.Sprint(name, ".", i)] = true
		}
		if what == "done" {
			k.acknowledged += n
		}
	})
	if round > 0 && k.random.IntN(2) == 0 {
		return
	}
	require.NoError(t, os.MkdirAll(k.Dir, 0o700)) // the child may not have come to it
	whole := event("torn")                        // it may end anywhere but behind its last brace
	f, err := os.OpenFile(filepath.Join(k.Dir, fileName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString("\n" + whole[:1+k.random.IntN(len(whole)-1)])
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// check compares the log with what is known, returns how many lines are torn,
// and begins a new log when this one is large.
func (k *kills) check(t *testing.T) (torn int) {
	l, err := Open(k.Dir, nil)
	require.NoError(t, err)
	found := map[string]bool{}
	for h, err := range l.Heads(t.Context(), Cursor{}) {
		require.NoError(testenv.Lost(t), err)
		require.False(t, found[h.Event], "%s is there twice", h.Event)
		require.True(t, k.begun[h.Event], "%s was never attempted", h.Event)
		found[h.Event] = true
	}
	for _, name := range slices.Sorted(maps.Keys(k.done)) {
		require.True(testenv.Lost(t), found[name], "%s was acknowledged and is gone", name)
	}
	data, err := os.ReadFile(l.path())
	if !errors.Is(err, fs.ErrNotExist) { // the child may not have come to it
		require.NoError(t, err)
	}
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !json.Valid(line) {
			torn++
		}
	}
	if len(data) > 32<<20 {
		require.NoError(t, os.Remove(l.path()))
		clear(k.begun)
		clear(k.done)
	}
	require.NoError(t, l.Close())
	return torn
}
