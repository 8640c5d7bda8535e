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

	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// childState opens the state as a child does.
func childState(dir string) (*State, func() error, error) {
	st, err := sessionstore.Open(dir, nil)
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
	raw, err := json.Marshal(map[string]string{"n": name})
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
	found := map[string]bool{}
	see := func(name string) {
		require.True(t, s.begun[name], name)
		require.False(t, found[name], "%s is there twice", name)
		found[name] = true
	}
	history, err := state.History(t.Context())
	require.NoError(t, err)
	for _, item := range history {
		see("item " + textOf(item, "n"))
	}
	raw, err := state.object(t.Context())
	require.NoError(t, err)
	list, err := commands(raw)
	require.NoError(t, err)
	for _, c := range list {
		see("command " + c)
	}
	kept, err := state.Kept(t.Context())
	require.NoError(t, err)
	for _, k := range kept {
		see("kept " + k.ID)
		require.Equal(t, k.Digest, digest(k.Call))
	}
	info, err := state.TokenInfo(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, info.Total, count(s.ended, "token"))
	require.LessOrEqual(t, info.Total, count(s.begun, "token"))
	if limits := textOf(member(raw, "latestRateLimits"), "n"); limits != "" {
		require.True(t, s.begun["limits "+limits])
	}
	for name := range s.ended {
		if !strings.HasPrefix(name, "token") && !strings.HasPrefix(name, "limits") {
			require.True(t, found[name], "%s is lost", name)
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
	for round := range testenv.KillRounds() {
		p := testenv.Spawn(t, "write", st.Dir(), "100000")
		p.KillAmid(t, round, time.Duration(rng.IntN(40_000))*time.Microsecond, ends, all.hear)
		all.check(t, s)
	}
	t.Logf("%d calls acknowledged of %d", len(all.ended), len(all.begun))
	require.NotEmpty(t, all.ended)
	require.NoError(t, s.RecordItems(t.Context(), items(`{"n": "last"}`)...))
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
		kept, err := s.Kept(ctx)
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

// killBoth kills two children, each a random time from now on, or in every second
// round, from 0, from the first line on that one of them prints: so a slow machine
// proves something too. Every line is given to hear. killBoth returns when both
// are gone, and fails t when they came to no such line.
func killBoth(t *testing.T, round int, rng *rand.Rand, one, two *testenv.Process, hear func(line string)) {
	t.Helper()
	both := []*testenv.Process{one, two}
	lines := make(chan string)
	var readers sync.WaitGroup
	for _, p := range both {
		readers.Go(func() {
			for line, ok := p.Line(); ok; line, ok = p.Line() {
				lines <- line
			}
		})
	}
	go func() {
		readers.Wait()
		close(lines)
	}()
	waits := true
	kill := func() {
		waits = false
		for _, p := range both {
			p.KillAfter(time.Duration(rng.IntN(20_000)) * time.Microsecond)
		}
	}
	if round%2 == 1 {
		kill()
	}
	var all []string
	for line := range lines {
		all = append(all, line)
		if waits {
			kill()
		}
	}
	one.Kill()
	two.Kill()
	require.False(t, waits, "round %d: the children ended by themselves", round)
	for _, line := range all {
		hear(line)
	}
}

// TestCallsRunAtMostOnce lets two processes run approved calls, and kills them
// again and again.
func TestCallsRunAtMostOnce(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	rng := seeded(t)
	ran := map[string]bool{}
	rounds := testenv.KillRounds() / 3
	const each = 4
	for round := range rounds {
		one, two := testenv.Spawn(t, "claim", st.Dir(), ""), testenv.Spawn(t, "claim", st.Dir(), "")
		for _, p := range []*testenv.Process{one, two} {
			_, ok := p.Line()
			require.True(t, ok)
		}
		for i := range each {
			name := fmt.Sprintf("%d.%d", round, i)
			require.NoError(t, testenv.Retry(sessionstore.ErrLocked, func() error {
				return s.KeepPending(t.Context(), name, json.RawMessage(`{"call": "`+name+`"}`))
			}))
			require.NoError(t, testenv.Retry(sessionstore.ErrLocked, func() error { return s.Decide(t.Context(), name, Approved) }))
		}
		killBoth(t, round, rng, one, two, func(line string) {
			require.False(t, ran[line], "%s twice", line)
			ran[line] = true
		})
	}
	kept, err := s.Kept(t.Context())
	require.NoError(t, err)
	require.Len(t, kept, rounds*each)
	unheard := 0
	for _, k := range kept {
		heard := ran["run "+k.ID]
		require.True(t, !heard || k.Verdict == Ran, k.ID)
		if k.Verdict == Ran && !heard {
			unheard++
		}
	}
	t.Logf("%d ran, %d were claimed by a process that was killed before it ran them", len(ran), unheard)
	require.NotEmpty(t, ran)
	require.LessOrEqual(t, unheard, 2*rounds, "at most one for each kill")
}
