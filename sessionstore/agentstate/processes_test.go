package agentstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// childState opens the state as a child does.
func childState(dir string) (*State, func() error, error) {
	st, err := core.Open(dir, nil, testenv.KillPoint())
	if err != nil {
		return nil, nil, err
	}
	s, err := Open(st, id, nil)
	return s, st.Close, err
}

// writeAsChild makes so many rounds of all calls of a state. It prints what
// each is about to write, and again when it is acknowledged.
func writeAsChild(dir, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	s, done, err := childState(dir)
	if err != nil {
		return err
	}
	for i := range n {
		if err := writeOnce(s, fmt.Sprintf("%d.%d", os.Getpid(), i)); err != nil {
			return err
		}
	}
	return done()
}

func writeOnce(s *State, name string) error {
	ctx := context.Background()
	raw, err := json.Marshal(map[string]string{"n": name, "role": "user"})
	if err != nil {
		return err
	}
	for _, call := range []struct {
		what string
		do   func() error
	}{
		{"item", func() error { return s.RecordItems(ctx, raw) }},
		{"command", func() error { return s.AddApprovedCommand(ctx, name) }},
		{"token", func() error { return s.AddTokenUsage(ctx, 1) }},
		{"kept", func() error { return s.KeepPending(ctx, name, raw) }},
		{"limits", func() error { return s.SetRateLimits(ctx, raw) }},
	} {
		fmt.Println("begin", call.what, name)
		if err := testenv.Retry(sessionstore.ErrLocked, call.do); err != nil {
			return fmt.Errorf("%s: %w", call.what, err)
		}
		fmt.Println("end", call.what, name)
	}
	return nil
}

// said is what children printed.
type said struct {
	begun, ended map[string]bool // such as "item 5.1"
}

// ends reports whether a child tells that a call is done.
func ends(line string) bool { return strings.HasPrefix(line, "end ") }

func (s said) hear(line string) {
	_, rest, _ := strings.Cut(line, " ")
	s.begun[rest] = true
	if ends(line) {
		s.ended[rest] = true
	}
}

func count(set map[string]bool, what string) (n int64) {
	for name := range set {
		if strings.HasPrefix(name, what+" ") {
			n++
		}
	}
	return n
}

// check requires that acknowledged ⊆ found ⊆ begun, each once.
func (s said) check(t *testing.T, state *State) {
	t.Helper()
	lost := testenv.Lost(t)
	found := map[string]bool{}
	see := func(name string) {
		require.True(lost, s.begun[name], name)
		require.False(t, found[name], "%s is there twice", name)
		found[name] = true
	}
	history, err := state.History(t.Context())
	require.NoError(lost, err)
	for _, item := range history {
		see("item " + pyjson.Text(member(item, "n")))
	}
	raw, err := state.object(t.Context())
	require.NoError(lost, err)
	list, err := state.ApprovedCommands(t.Context())
	require.NoError(lost, err)
	for _, c := range list {
		see("command " + c)
	}
	kept, err := state.Approvals(t.Context())
	require.NoError(lost, err)
	for _, k := range kept {
		see("kept " + k.ID)
		require.Equal(lost, k.digest, digest(k.Call))
	}
	info, err := state.TokenInfo(t.Context())
	require.NoError(lost, err)
	require.GreaterOrEqual(lost, info.Total, count(s.ended, "token"))
	require.LessOrEqual(t, info.Total, count(s.begun, "token"))
	if limits := pyjson.Text(member(member(raw, "latestRateLimits"), "n")); limits != "" {
		require.True(lost, s.begun["limits "+limits])
	}
	for name := range s.ended {
		if !strings.HasPrefix(name, "token") && !strings.HasPrefix(name, "limits") {
			require.True(lost, found[name], "%s is lost", name)
		}
	}
}

// TestTwoProcesses writes one state from two processes and this one.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	const rounds = 20
	one, two := testenv.Spawn(t, "write", st.Dir(), strconv.Itoa(rounds)), testenv.Spawn(t, "write", st.Dir(), strconv.Itoa(rounds))
	for i := range rounds {
		require.NoError(t, testenv.Retry(sessionstore.ErrLocked, func() error { return s.AddTokenUsage(t.Context(), 1) }))
		require.NoError(t, testenv.Retry(sessionstore.ErrLocked, func() error { return s.AddApprovedCommand(t.Context(), fmt.Sprint("mine ", i)) }))
	}
	all := said{map[string]bool{}, map[string]bool{}}
	for _, line := range append(one.End(t), two.End(t)...) {
		all.hear(line)
	}
	for i := range rounds {
		all.hear(fmt.Sprint("end command mine ", i))
		all.hear(fmt.Sprint("end token mine ", i))
	}
	require.EqualValues(t, 3*rounds, count(all.ended, "token"))
	all.check(t, s)
}

// TestKills kills a writer again and again, in the midst of all its calls.
func TestKills(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	rng := seeded(t)
	all := said{map[string]bool{}, map[string]bool{}}
	v := testenv.Victim{
		Name: "write", Dir: st.Dir(), Argument: "100000", Rounds: testenv.KillRounds(),
		Operations: 120, First: 20, Within: 40 * time.Millisecond, Acknowledges: ends,
	}
	for round := range v.Rounds {
		v.Kill(t, round, rng, all.hear)
		all.check(t, s)
	}
	t.Logf("%d calls acknowledged of %d", len(all.ended), len(all.begun))
	require.NotEmpty(t, all.ended)
	require.NoError(t, s.RecordItems(t.Context(), items(`{"role": "user", "n": "last"}`)...))
	all.hear("end item last")
	all.check(t, s)
}

func seeded(t *testing.T) *rand.Rand {
	seed := testenv.Seed(t)
	return rand.New(rand.NewPCG(seed, 0))
}

// claimAsChild claims all approved calls there are, again and again, and
// prints each that it runs.
func claimAsChild(dir, _ string) error {
	s, _, err := childState(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	fmt.Println("ready")
	for {
		kept, err := s.Approvals(ctx)
		if err != nil {
			return err
		}
		for _, k := range kept {
			if k.Verdict != Approved {
				continue
			}
			switch err := testenv.Retry(sessionstore.ErrLocked, func() error { return s.Claim(ctx, k.ID, k.Call) }); {
			case err == nil:
				fmt.Println("run", k.ID)
			case !errors.Is(err, ErrRan):
				return err
			}
		}
	}
}

// claimants runs two children that claim until both are killed. What they printed comes
// from said then.
func claimants(t *testing.T, v testenv.Victim, round int, seed uint64) (said <-chan []string) {
	var lines [2][]string
	var both sync.WaitGroup
	for i := range lines {
		rng := rand.New(rand.NewPCG(seed, uint64(2*round+i)))
		both.Go(func() { v.Kill(t, round, rng, func(line string) { lines[i] = append(lines[i], line) }) })
	}
	end := make(chan []string, 1)
	go func() {
		both.Wait()
		end <- append(lines[0], lines[1]...)
	}()
	return end
}

// TestCallsRunAtMostOnce lets two processes run approved calls, and kills them
// again and again. Calls are approved as long as they live.
func TestCallsRunAtMostOnce(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	seed := testenv.Seed(t)
	ran := map[string]bool{}
	approved := 0
	v := testenv.Victim{
		Name: "claim", Dir: st.Dir(), Rounds: testenv.KillRounds() / 3, Operations: 60, First: 30, Within: 20 * time.Millisecond,
		Acknowledges: func(line string) bool { return line != "ready" },
	}
	for round := range v.Rounds {
		said := claimants(t, v, round, seed)
		for alive := true; alive; {
			select {
			case lines := <-said:
				alive = false
				for _, line := range lines {
					if line != "ready" {
						require.False(t, ran[line], "%s twice", line)
						ran[line] = true
					}
				}
			default:
				approve(t, s, fmt.Sprint(approved))
				approved++
			}
		}
	}
	kept, err := s.Approvals(t.Context())
	require.NoError(testenv.Lost(t), err)
	require.Len(testenv.Lost(t), kept, approved)
	unheard := 0
	for _, k := range kept {
		heard := ran["run "+k.ID]
		require.True(testenv.Lost(t), !heard || k.Verdict == Ran, k.ID)
		if k.Verdict == Ran && !heard {
			unheard++
		}
	}
	t.Logf("%d approved, %d ran, %d were claimed by a process that was killed before it ran them", approved, len(ran), unheard)
	require.NotEmpty(t, ran)
	require.LessOrEqual(t, unheard, 2*v.Rounds, "at most one for each kill")
}

// approve keeps a call and approves it.
func approve(t *testing.T, s *State, name string) {
	t.Helper()
	require.NoError(t, testenv.Retry(sessionstore.ErrLocked, func() error {
		return s.KeepPending(t.Context(), name, json.RawMessage(`{"call": "`+name+`"}`))
	}))
	require.NoError(t, testenv.Retry(sessionstore.ErrLocked, func() error { return s.Decide(t.Context(), name, Approved) }))
}
