package record

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A State names a crash state of a record.
type State struct {
	Cut      int // how many entries were made
	Strategy Strategy
	Seed     uint64
}

// String returns the state as [ParseState] reads it.
func (s State) String() string { return fmt.Sprintf("%d %s %d", s.Cut, s.Strategy, s.Seed) }

// ParseState reads the text that [State.String] returned.
func ParseState(text string) (s State, err error) {
	if _, err = fmt.Sscan(text, &s.Cut, &s.Strategy, &s.Seed); err == nil && !slices.Contains(Strategies, s.Strategy) {
		err = fmt.Errorf("unknown strategy %q", s.Strategy)
	}
	return s, err
}

// A Span is a call: the number of entries when it began and when it returned.
type Span struct{ From, To int }

// Choose returns n states in the order of their cuts. Most are cut where a call
// of spans is under way or has just returned, or just before a flush.
func Choose(all []Entry, spans []Span, n int, rng *rand.Rand) []State {
	first, last := spans[0].From, spans[0].To
	for _, s := range spans {
		first, last = min(first, s.From), max(last, s.To)
	}
	states := make([]State, n)
	for i := range states {
		s := spans[rng.IntN(len(spans))]
		cut := s.From + rng.IntN(s.To-s.From+1)
		switch x := rng.IntN(100); {
		case x < 25:
			cut = s.To
		case x < 50:
		case x < 85:
			for cut < len(all) && all[cut].Kind != Flush {
				cut++
			}
		case x < 93:
			cut = s.To + rng.IntN(6)
		default:
			cut = first + rng.IntN(last-first+1)
		}
		states[i] = State{min(cut, len(all)), Strategies[i%len(Strategies)], rng.Uint64() >> 40}
	}
	slices.SortStableFunc(states, func(a, b State) int { return cmp.Compare(a.Cut, b.Cut) })
	return states
}
