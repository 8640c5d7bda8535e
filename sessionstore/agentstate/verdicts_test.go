package agentstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestResolveAfterRestart has a call wait, restarts the agent, and takes the user's
// verdicts there, where the new Runtime knows of no pending call.
func TestResolveAfterRestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdicts []Verdict
		errs     []error
		claim    error
	}{
		{[]Verdict{Approved}, []error{nil}, nil},
		{[]Verdict{Approved, Approved}, []error{nil, nil}, nil},
		{nil, nil, ErrNotApproved},
		{[]Verdict{Rejected}, []error{nil}, ErrRejected},
		{[]Verdict{Approved, Rejected}, []error{nil, nil}, ErrRejected},
		{[]Verdict{Rejected, Approved}, []error{nil, ErrNotPending}, ErrRejected},
		{[]Verdict{Approved, Rejected, Approved}, []error{nil, nil, ErrNotPending}, ErrRejected},
	} {
		state, again := newState(t)
		before := NewSession(state)
		require.NoError(t, before.StartTurn())
		require.NoError(t, state.KeepPending(t.Context(), "1", oneCall))
		require.NoError(t, before.RequestApproval("1", oneCall))
		require.NoError(t, before.Close())
		for i, v := range c.verdicts {
			after := NewSession(again())
			p, err := after.Resolve(t.Context(), "1", v)
			require.ErrorIs(t, err, c.errs[i], c.verdicts)
			if err == nil {
				require.Equal(t, Approval{ID: "1", Call: oneCall}, p, "as it is stored")
			}
		}
		require.ErrorIs(t, again().Claim(t.Context(), "1", oneCall), c.claim, c.verdicts)
	}
}

// TestOthersVerdictEndsTheWait has another process decide a call that waits here: the
// answer of the user who is asked here comes too late, and the agent goes on.
func TestOthersVerdictEndsTheWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		other func(s *State) error
		want  error
	}{
		{func(s *State) error { return s.Decide(t.Context(), "1", Rejected) }, ErrNotPending},
		{func(s *State) error {
			return errors.Join(s.Decide(t.Context(), "1", Approved), s.Claim(t.Context(), "1", oneCall))
		}, ErrRan},
	} {
		state, again := newState(t)
		s := NewSession(state)
		require.NoError(t, s.StartTurn())
		require.NoError(t, state.KeepPending(t.Context(), "1", oneCall))
		require.NoError(t, s.RequestApproval("1", oneCall))
		require.NoError(t, c.other(again()))
		_, err := s.Resolve(t.Context(), "1", Approved)
		require.ErrorIs(t, err, c.want)
		require.Empty(t, s.Runtime.Pending())
		require.Equal(t, Processing, s.Runtime.State())
	}
}

// An act is one call of an agent.
type act struct {
	verb, id string
	verdict  Verdict
}

func (a act) String() string { return fmt.Sprintf("%s %s %s", a.verb, a.id, a.verdict) }

func callOf(id string) json.RawMessage { return json.RawMessage(`{"call": "` + id + `"}`) }

func (a act) do(s *Session) error {
	ctx := context.Background()
	switch a.verb {
	case "keep":
		return s.State.KeepPending(ctx, a.id, callOf(a.id))
	case "request":
		return s.RequestApproval(a.id, callOf(a.id))
	case "resolve":
		_, err := s.Resolve(ctx, a.id, a.verdict)
		return err
	case "decide":
		return s.State.Decide(ctx, a.id, a.verdict)
	case "claim":
		return s.State.Claim(ctx, a.id, callOf(a.id))
	case "claim-decided":
		return s.State.ClaimDecided(ctx, a.id, callOf(a.id), a.verdict)
	case "claim-other":
		return s.State.Claim(ctx, a.id, json.RawMessage(`{"call": "other"}`))
	}
	return fmt.Errorf("no such act: %q", a.verb)
}

// outcome returns the public error that err is.
func outcome(err error) string {
	for _, public := range []error{ErrPending, ErrNotPending, ErrOtherCall, ErrRejected, ErrNotApproved, ErrRan} {
		if errors.Is(err, public) {
			return public.Error()
		}
	}
	return fmt.Sprint(err)
}

// actAsChild makes one act in a process of its own and prints its outcome.
func actAsChild(dir, argument string) error {
	s, done, err := childState(dir)
	if err != nil {
		return err
	}
	part := strings.Split(argument, " ")
	fmt.Println(outcome(act{part[0], part[1], Verdict(part[2])}.do(NewSession(s))))
	return done()
}

// approvalsModel says what is stored and which calls wait in each agent.
type approvalsModel struct {
	stored map[string]Verdict
	waits  [2]map[string]bool
}

// apply makes an act and returns its error. Agent 2 has no Runtime that lasts.
func (m *approvalsModel) apply(agent int, a act) error {
	was, kept := m.stored[a.id]
	switch a.verb {
	case "keep":
		if kept {
			return ErrPending
		}
		m.stored[a.id] = Undecided
	case "request":
		if m.waits[agent][a.id] {
			return ErrPending
		}
		m.waits[agent][a.id] = true
	case "resolve":
		waited := false
		if agent < 2 {
			waited = m.waits[agent][a.id]
			delete(m.waits[agent], a.id)
		}
		if waited && !kept {
			return nil
		}
		return m.decide(a)
	case "decide":
		return m.decide(a)
	case "claim-decided":
		switch {
		case was == Ran:
			return ErrRan
		case was == Rejected || a.verdict == Rejected:
			m.stored[a.id] = Rejected
			return ErrRejected
		}
		m.stored[a.id] = Ran
	default:
		switch {
		case !kept:
			return ErrNotPending
		case a.verb == "claim-other":
			return ErrOtherCall
		case was == Ran:
			return ErrRan
		case was == Rejected:
			return ErrRejected
		case was != Approved:
			return ErrNotApproved
		}
		m.stored[a.id] = Ran
	}
	return nil
}

func (m *approvalsModel) decide(a act) error {
	switch was := m.stored[a.id]; {
	case was == "", was == Rejected && a.verdict == Approved:
		return ErrNotPending
	case was == Ran:
		return ErrRan
	}
	m.stored[a.id] = a.verdict
	return nil
}

// agent is a process that goes on for some acts: a store and a session of its own.
type agent struct {
	*Session
	store *sessionstore.Store
}

func newAgent(t *testing.T, dir string) *agent {
	st, err := core.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed}, nil)
	require.NoError(t, err)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	a := &agent{NewSession(s), st}
	require.NoError(t, a.StartTurn())
	return a
}

func (a *agent) end(t *testing.T) {
	require.NoError(t, a.Close())
	require.NoError(t, a.store.Close())
}

// TestVerdictsModel makes random acts in two agents, which restart and are interrupted,
// and in processes that make one act and end. After each, the outcome, what is stored
// and what waits are those of the model; and no call runs that was rejected last, or
// twice.
func TestVerdictsModel(t *testing.T) {
	t.Parallel()
	rng := testenv.Rand(t)
	seen := map[string]int{}
	for round := range testenv.Share(20, 40, 1000) {
		verdictsOnce(t, rng, round, seen)
	}
	t.Log(seen)
	for _, what := range []string{
		"resolve <nil>", "resolve " + ErrNotPending.Error(), "resolve " + ErrRan.Error(), "decide <nil>", "claim <nil>", "claim " + ErrRan.Error(),
		"claim " + ErrNotApproved.Error(), "claim " + ErrRejected.Error(), "claim-other " + ErrOtherCall.Error(), "claim-decided <nil>", "claim-decided " + ErrRejected.Error(), "claim-decided " + ErrRan.Error(), "rejected over approved",
	} {
		require.NotZero(t, seen[what], what)
	}
}

func verdictsOnce(t *testing.T, rng *rand.Rand, round int, seen map[string]int) {
	dir := newStore(t, nil).Dir()
	agents := []*agent{newAgent(t, dir), newAgent(t, dir)}
	m := &approvalsModel{stored: map[string]Verdict{}, waits: [2]map[string]bool{{}, {}}}
	last, ran := map[string]Verdict{}, map[string]bool{} // what users said, and what was claimed
	verbs := []string{"keep", "request", "request", "resolve", "resolve", "resolve", "decide", "claim", "claim", "claim-decided", "claim-other"}
	var acts []string
	for step := range 30 {
		at := rng.IntN(2)
		switch rng.IntN(12) {
		case 0:
			agents[at].end(t)
			agents[at] = newAgent(t, dir)
			clear(m.waits[at])
			acts = append(acts, fmt.Sprint(at, " restarts"))
			continue
		case 1:
			agents[at].Interrupt()
			require.NoError(t, agents[at].StartTurn())
			clear(m.waits[at])
			acts = append(acts, fmt.Sprint(at, " is interrupted"))
			continue
		}
		a := act{verbs[rng.IntN(len(verbs))], fmt.Sprint(1 + rng.IntN(2)), []Verdict{Approved, Approved, Rejected}[rng.IntN(3)]}
		if a.verb != "request" && rng.IntN(80) == 0 {
			at = 2
		}
		if step == 0 {
			a.verb = "keep"
		}
		acts = append(acts, fmt.Sprint(at, " ", a))
		if !strings.HasPrefix(a.verb, "claim") && m.stored[a.id] == Approved && a.verdict == Rejected {
			seen["rejected over approved"]++
		}
		got := ""
		if at == 2 {
			got = strings.Join(testenv.Spawn(t, "act", dir, a.String()).End(t), "\n")
		} else {
			got = outcome(a.do(agents[at].Session))
		}
		require.Equal(t, outcome(m.apply(at, a)), got, "round %d: %v", round, acts)
		seen[a.verb+" "+got]++
		if a.verb == "claim-decided" && m.stored[a.id] != Rejected {
			last[a.id] = a.verdict
		}
		switch {
		case strings.HasPrefix(a.verb, "claim") && got == outcome(nil):
			require.Equal(t, Approved, last[a.id], acts)
			require.False(t, ran[a.id], acts)
			ran[a.id] = true
		case (a.verb == "decide" || a.verb == "resolve") && m.stored[a.id] != "":
			last[a.id] = a.verdict
			if got == ErrNotPending.Error() {
				last[a.id] = Rejected // the verdict that was refused counts for nothing
			}
		}
		for i, g := range agents {
			requireModel(t, m, i, g, acts)
		}
	}
	for _, g := range agents {
		g.end(t)
	}
}

// requireModel requires that an agent finds what the model says.
func requireModel(t *testing.T, m *approvalsModel, at int, g *agent, acts []string) {
	t.Helper()
	kept, err := g.State.Approvals(t.Context())
	require.NoError(t, err)
	stored := map[string]Verdict{}
	for _, k := range kept {
		stored[k.ID] = k.Verdict
		require.Equal(t, k.Verdict == Ran, k.Call == nil, acts)
		require.True(t, k.Call == nil || string(callOf(k.ID)) == string(k.Call), acts)
	}
	require.Equal(t, m.stored, stored, acts)
	var waits []string
	for _, p := range g.Runtime.Pending() {
		waits = append(waits, p.ID)
	}
	want := make([]string, 0, 2)
	for id := range m.waits[at] {
		want = append(want, id)
	}
	slices.Sort(want)
	require.ElementsMatch(t, want, waits, acts)
	require.Equal(t, len(want) > 0, g.Runtime.State() == Waiting, acts)
}
