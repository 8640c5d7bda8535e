//go:build unix

package sessionstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// killRounds returns how many children are killed.
func killRounds() int {
	if *killsFlag > 0 {
		return *killsFlag
	}
	return testenv.Share(4, 8, 130)
}

var killsFlag = flag.Int("kills", 0, "how many children TestKills kills; 0: 130 with TEST_LONG set, else 8")

// TestKills kills a child that writes, again and again on the same sessions.
// What it was told to be stored must be there, and nothing that it had not
// begun to store; every file is whole for every reader; and the next child
// goes on with what it finds.
func TestKills(t *testing.T) {
	t.Parallel()
	n := testenv.Seed(t)
	rounds, lost := atomic.Int64{}, atomic.Int64{}
	t.Cleanup(func() { fmt.Printf("kills: %d rounds, %d lost\n", rounds.Load(), lost.Load()) })
	for i, name := range slices.Sorted(maps.Keys(durabilities)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if t.Failed() {
					lost.Add(1)
				}
			}()
			k := newKills(t, name, rand.New(rand.NewPCG(n, uint64(i))))
			v := testenv.Victim{
				Name: "kills", Dir: k.dir, Env: homeIn(k.home),
				Rounds: (killRounds() + i) / len(durabilities), Operations: 120, First: 100, Within: 100 * time.Millisecond,
			}
			for round := range v.Rounds {
				k.round(t, v, round)
				rounds.Add(1)
			}
			k.goOn(t)
		})
	}
}

// deed is one call of the child: it keeps so many rows, adds those numbered
// First, First+lanes … and sets the metadata's n unless N is 0.
type deed struct {
	Lane                  int
	Done                  bool
	Save                  bool // it replaces the rows of the session; else it adds to them
	Keep, First, Count, N int
}

// The lanes are the goroutines of the child: two have a session each, of which
// the first has an owner, and two share one.
const lanes = 4

var laneSessions = [lanes]string{"solo-a", "solo_b", "shared", "shared"}

// fate is what a lane has done.
type fate struct {
	rows    []int
	n       int
	pending *deed
}

func (f fate) after(d *deed) fate {
	if d == nil {
		return f
	}
	rows := f.rows
	if d.Save {
		rows = rows[:d.Keep:d.Keep]
	}
	for i := range d.Count {
		rows = append(rows[:len(rows):len(rows)], d.First+i*lanes)
	}
	if d.N > 0 {
		f.n = d.N
	}
	return fate{rows: rows, n: f.n}
}

// killRow is the row of that number: 10 B to 200 kB of text in three scripts.
func killRow(number int) string {
	r := rand.New(rand.NewPCG(uint64(number), 1))
	limit := 200_000.0
	if number%lanes >= 2 {
		limit = 300 // rows that no rewind takes away
	}
	size := int(math.Exp(math.Log(10) + r.Float64()*math.Log(limit/10)))
	return user(fmt.Sprint(number, " ", strings.Repeat([]string{"wort ", "слово ", "言葉𝄞"}[number%3], 1+size/8)))
}

// kills are the sessions that children write, and what must be in them.
type kills struct {
	home, workspace, dir string
	durability           string
	r                    *rand.Rand
	next                 int // number of the next row
	fates                [lanes]fate
}

func newKills(t *testing.T, durability string, r *rand.Rand) *kills {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	k := &kills{home: home, workspace: filepath.Join(home, "work"), durability: durability, r: r}
	require.NoError(t, os.Mkdir(k.workspace, 0o700))
	k.dir = filepath.Join(home, ".amplifier", "projects", sessionstore.ProjectSlug(k.workspace), "sessions")
	return k
}

// round runs a child until it is killed.
func (k *kills) round(t *testing.T, v testenv.Victim, round int) {
	argument, err := json.Marshal(killArgument{k.durability, k.workspace, k.r.Uint64(), k.next})
	require.NoError(t, err)
	idle := map[int]bool{0: true, 1: true, 2: true, 3: true} // lanes that have done nothing
	v.Argument, v.Acknowledges = string(argument), func(string) bool { return len(idle) == 0 }
	v.Kill(t, round, k.r, func(line string) {
		var d deed
		require.NoError(t, json.Unmarshal([]byte(line), &d), line)
		f := &k.fates[d.Lane]
		if d.Done {
			*f = f.after(f.pending)
			delete(idle, d.Lane)
		} else {
			f.pending = &d
			k.next = max(k.next, d.First+d.Count*lanes)
		}
	})
	k.check(t)
}

// check requires of each session that what was acknowledged is found and that
// what is found was attempted, and takes what was found for the next round.
func (k *kills) check(t *testing.T) {
	lost := testenv.Lost(t)
	st, err := sessionstore.Open(k.dir, nil)
	require.NoError(t, err)
	for _, id := range []string{"solo-a", "solo_b", "shared"} {
		s, err := st.Load(t.Context(), id)
		if errors.Is(err, sessionstore.ErrNotFound) {
			for lane := range lanes {
				require.False(lost, laneSessions[lane] == id && len(k.fates[lane].rows) > 0, "acknowledged session is gone")
			}
			continue
		}
		require.NoError(lost, err)
		found := numbersOf(lost, lines(s.Messages))
		n, _ := s.Metadata.Int("n")
		require.Nil(lost, s.Recovered)
		k.checkReaders(lost, id, found)
		for lane := range lanes {
			if laneSessions[lane] == id {
				k.checkLane(lost, lane, found, n)
			}
		}
	}
	require.NoError(t, st.Close())
}

// checkLane requires the state before or after the call that was under way.
func (k *kills) checkLane(t testing.TB, lane int, found []int, n int) {
	f := k.fates[lane]
	if laneSessions[lane] == "shared" {
		found = slices.DeleteFunc(slices.Clone(found), func(number int) bool { return number%lanes != lane })
	}
	old, done := f, f.after(f.pending)
	switch {
	case slices.Equal(found, done.rows) && n == done.n:
		old = done
	case slices.Equal(found, done.rows):
		require.Equal(t, old.n, n, "metadata of lane %d", lane)
		old.rows = done.rows
	default:
		require.True(t, slices.Equal(old.rows, found), "rows of lane %d: %v, not %v; under way: %+v", lane, found, old.rows, f.pending)
		require.Equal(t, old.n, n, "metadata of lane %d", lane)
	}
	old.pending = nil
	k.fates[lane] = old
}

// checkReaders requires the file to be whole, and Python to read what the
// store reads.
func (k *kills) checkReaders(t testing.TB, id string, found []int) {
	session := filepath.Join(k.dir, id)
	data, err := os.ReadFile(filepath.Join(session, transcriptFile))
	if errors.Is(err, os.ErrNotExist) {
		require.Empty(t, found)
		return
	}
	require.NoError(t, err)
	require.True(t, len(data) == 0 || data[len(data)-1] == '\n', "torn at its end")
	rows, ok := strictRows(data)
	require.True(t, ok, "not whole")
	old, err := oldPython(session).load()
	require.NoError(t, err)
	require.Equal(t, rows, old)
	fresh, err := newPython(session).load()
	require.NoError(t, err)
	require.Equal(t, rows, fresh)
	require.Equal(t, found, numbersOf(t, rows))
}

// numbersOf returns the numbers of rows, each of which must be complete.
func numbersOf(t testing.TB, rows []string) []int {
	numbers := make([]int, len(rows))
	for i, row := range rows {
		_, err := fmt.Sscan(strings.TrimPrefix(row, strings.TrimSuffix(user(""), `"}`)), &numbers[i])
		require.NoError(t, err)
		require.True(t, row == killRow(numbers[i]), "row %d", numbers[i])
	}
	return numbers
}

// goOn saves once more what was found.
func (k *kills) goOn(t *testing.T) {
	st := open(t, k.dir, &sessionstore.Options{Durability: durabilities[k.durability]})
	for _, id := range []string{"solo_b", "shared"} {
		s, err := st.Load(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), id, parse(t, user("last"))...))
		require.NoError(t, st.Save(t.Context(), id, append(s.Messages, parse(t, user("last"), user("very last"))...), s.Metadata))
		rows, err := oldPython(filepath.Join(k.dir, id)).load()
		require.NoError(t, err)
		require.Equal(testenv.Lost(t), append(lines(s.Messages), user("last"), user("very last")), rows)
	}
}

// killArgument is what a child is told.
type killArgument struct {
	Durability, Workspace string
	Seed                  uint64
	Next                  int
}

func init() { children["kills"] = killChild }

// killChild writes until it is killed.
func killChild(dir, argument string) error {
	var a killArgument
	if err := json.Unmarshal([]byte(argument), &a); err != nil {
		return err
	}
	if err := os.Chdir(a.Workspace); err != nil {
		return err
	}
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: durabilities[a.Durability]}, testenv.KillPoint())
	if err != nil {
		return err
	}
	var first sync.WaitGroup
	first.Add(lanes)
	failed := make(chan error)
	for lane := range lanes {
		go func() {
			w := killLane{
				st: st, id: laneSessions[lane], next: a.Next + (lane-a.Next%lanes+lanes)%lanes,
				r: rand.New(rand.NewPCG(a.Seed, uint64(lane))), first: &first,
			}
			failed <- w.run(lane)
		}()
	}
	return <-failed
}

type killLane struct {
	st   *sessionstore.Store
	id   string
	next int
	r    *rand.Rand
	rows []sessionstore.Message
	n    int

	first *sync.WaitGroup // waits until each lane has done a call
	begun bool            // this one has
}

func (w *killLane) run(lane int) error {
	s, err := w.st.Load(context.Background(), w.id)
	switch {
	case err == nil:
		w.rows = s.Messages
		w.n, _ = s.Metadata.Int("n")
	case !errors.Is(err, sessionstore.ErrNotFound):
		return err
	}
	for {
		d := w.plan(lane)
		if err := tell(d); err != nil {
			return err
		}
		if err := w.do(d); err != nil {
			return err
		}
		if err := tell(deed{Lane: lane, Done: true}); err != nil {
			return err
		}
		if !w.begun {
			w.begun = true
			w.first.Done()
			w.first.Wait()
		}
	}
}

// tell prints d in one write.
func tell(d deed) error {
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(line, '\n'))
	return err
}

func (w *killLane) plan(lane int) deed {
	d := deed{Lane: lane, First: w.next, Count: 1 + w.r.IntN(3), Keep: len(w.rows)}
	if w.id != "shared" {
		switch w.r.IntN(6) {
		case 0: // metadata alone
			d.Count, d.N = 0, w.n+1
		case 1, 2:
			d.Save, d.N = true, w.n+1
		case 3:
			if len(w.rows) > 20 || w.r.IntN(4) == 0 {
				d.Keep = w.r.IntN(len(w.rows) + 1)
			}
			d.Save, d.N = true, w.n+1
		}
	}
	return d
}

func (w *killLane) do(d deed) error {
	ctx := context.Background()
	added := make([]sessionstore.Message, d.Count)
	for i := range added {
		m, err := sessionstore.ParseMessage([]byte(killRow(d.First + i*lanes)))
		if err != nil {
			return err
		}
		added[i] = m
	}
	w.next += d.Count * lanes
	w.rows = append(w.rows[:d.Keep:d.Keep], added...)
	if d.N == 0 {
		return w.st.Append(ctx, w.id, added...)
	}
	w.n = d.N
	if d.Save {
		var md sessionstore.Metadata
		if err := md.Set("n", d.N); err != nil {
			return err
		}
		return w.st.Save(ctx, w.id, w.rows, md)
	}
	count := func(md *sessionstore.Metadata) error { return md.Set("n", d.N) }
	_, err := w.st.UpdateMetadata(ctx, w.id, count)
	if errors.Is(err, sessionstore.ErrNotFound) {
		var md sessionstore.Metadata
		if err := count(&md); err != nil {
			return err
		}
		return w.st.Create(ctx, w.id, md)
	}
	return err
}
