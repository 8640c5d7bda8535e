package turns

// Pairs is the reading of a Matcher in which each call has a result of its
// own. Calls and results are indexes into those of the Matcher.
type Pairs struct {
	Answers []int // by call: its result, or -1
	Fates   []Fate
}

// Fate is what is known of one result.
type Fate struct {
	Kind FateKind
	Call int // the call that it answers, or -1
}

// FateKind says how a result stands to the calls.
type FateKind int

const (
	Placed    FateKind = iota // it answers its call, in its place
	Misplaced                 // it answers its call, but must be moved behind it
	Stray                     // it answers no call: none has its id, or it has no id
	Surplus                   // all calls of its id have other results
)

// Pairs gives the results to the calls. First, a result in its place answers
// the first call of its id that still waits. Then each result that is left
// answers the first call of its id that is left, before it or behind it. A
// result without an id answers a call without one only in its place.
func (m *Matcher) Pairs(w Waits) Pairs {
	p := Pairs{Answers: make([]int, len(m.Calls)), Fates: make([]Fate, len(m.Results))}
	for c := range p.Answers {
		p.Answers[c] = -1
	}
	m.pairInPlace(w, &p)
	m.pairLeft(&p)
	return p
}

// pairInPlace pairs the results that stand in their place. The others become
// stray, or surplus where their id has calls.
func (m *Matcher) pairInPlace(w Waits, p *Pairs) {
	first, next := m.chains()
	for i, result := range m.Results {
		n := result.Exchange
		if n < 0 {
			p.Fates[i] = Fate{Stray, -1}
			continue
		}
		c := first[n]
		for c >= 0 && m.Calls[c].Row < result.Row && !w.InPlace(m.Calls[c].Row, result.Row) {
			c = next[c] // its wait is over
		}
		first[n] = c
		switch {
		case c >= 0 && m.Calls[c].Row < result.Row:
			p.Answers[c], p.Fates[i] = i, Fate{Placed, c}
			first[n] = next[c]
		case n == m.unnamed:
			p.Fates[i] = Fate{Stray, -1}
		default:
			p.Fates[i] = Fate{Surplus, -1}
		}
	}
}

// pairLeft pairs the surplus results with the calls that have no result yet.
func (m *Matcher) pairLeft(p *Pairs) {
	first, next := m.chains()
	for i, result := range m.Results {
		if p.Fates[i].Kind != Surplus {
			continue
		}
		c := first[result.Exchange]
		for c >= 0 && p.Answers[c] >= 0 {
			c = next[c]
		}
		if first[result.Exchange] = c; c >= 0 {
			p.Answers[c], p.Fates[i] = i, Fate{Misplaced, c}
		}
	}
}

// chains returns the first call of every exchange, and for every call the next
// one of the same exchange, or -1.
func (m *Matcher) chains() (first, next []int) {
	first, next = make([]int, len(m.Exchanges)), make([]int, len(m.Calls))
	for n := range first {
		first[n] = -1
	}
	for c := len(m.Calls) - 1; c >= 0; c-- {
		n := m.Calls[c].Exchange
		next[c], first[n] = first[n], c
	}
	return first, next
}
