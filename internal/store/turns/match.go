package turns

// Matcher matches the results of tools with the calls of a conversation. Package slice
// uses it; slice/conversation pairs by itself, for display.
//
// A call and a result belong together when they have the same id. All calls
// and results of one id are an exchange. The calls without an id are one
// exchange as well.
//
// A result is in its place when its call is in an earlier message and no message between
// the two ends the wait for results. The caller decides which messages end the wait, see
// [Waits].
//
// Most ids have one call and one result. For an id with more of them, there
// are three readings:
//
//   - By exchange: the last call and the last result count, wherever they are. The
//     reference reads this way, and package slice diagnoses, repairs and cuts this way.
//     See [Exchange].
//   - By the nearest call: a result answers the last call before it. The
//     window of a conversation is read so. See [Matcher.Nearest].
//   - One for one: each call has a result of its own. Providers read this way.
//     See [Matcher.Pairs].
//
// A Matcher takes all calls before the first result. Every reading takes
// linear time.
type Matcher struct {
	Exchanges []Exchange     // in the order of their first calls
	numbers   map[string]int // index into exchanges by id
	unnamed   int            // index of the exchange of the calls without an id, or -1
	Calls     []Member       // all calls, in the order of the messages
	Results   []Member       // all results, in the order of the messages
}

// Exchange is the record of all calls and results of one id.
type Exchange struct {
	Key
	Call   int // index of the last message with a call
	Result int // index of the last message with a result, or -1
}

// Member is one call or one result.
type Member struct {
	Row      int // index of its message
	Exchange int // index of its exchange; -1 for a result whose id no call has
}

// NewMatcher returns a Matcher with room for that many calls and results.
func NewMatcher(calls, results int) *Matcher {
	return &Matcher{
		Exchanges: make([]Exchange, 0, calls), numbers: make(map[string]int, calls), unnamed: -1,
		Calls: make([]Member, 0, calls), Results: make([]Member, 0, results),
	}
}

// Match returns the Matcher of a conversation.
func Match(rows []Row) *Matcher {
	calls, results := 0, 0
	for _, r := range rows {
		calls += len(r.Calls())
		results += len(r.Results())
	}
	m := NewMatcher(calls, results)
	for i, r := range rows {
		for _, k := range r.Calls() {
			m.AddCall(i, k)
		}
	}
	for i, r := range rows {
		for _, k := range r.Results() {
			m.AddResult(i, k)
		}
	}
	return m
}

// AddCall adds a call of message i. Calls must be added in the order of their messages.
func (m *Matcher) AddCall(i int, k Key) {
	n := m.find(k)
	if n < 0 {
		n = len(m.Exchanges)
		m.Exchanges = append(m.Exchanges, Exchange{Key: k, Result: -1})
		if k.Named {
			m.numbers[k.ID] = n
		} else {
			m.unnamed = n
		}
	}
	m.Exchanges[n].Call = i
	m.Calls = append(m.Calls, Member{i, n})
}

// AddResult adds a result of message i. Results must be added in the order of their
// messages.
func (m *Matcher) AddResult(i int, k Key) {
	n := m.find(k)
	if n >= 0 {
		m.Exchanges[n].Result = i
	}
	m.Results = append(m.Results, Member{i, n})
}

// find returns the index of the exchange with that key, or -1.
func (m *Matcher) find(k Key) int {
	if !k.Named {
		return m.unnamed
	}
	if n, ok := m.numbers[k.ID]; ok {
		return n
	}
	return -1
}

// Answered reports whether a call with that id has a result.
func (m *Matcher) Answered(id string) bool {
	n := m.find(Key{id, true})
	return n >= 0 && m.Exchanges[n].Result >= 0
}

// Nearest returns for every result the index of the last message before it
// that makes its call, or -1.
func (m *Matcher) Nearest() []int {
	near := make([]int, len(m.Results))
	last := make([]int, len(m.Exchanges))
	for n := range last {
		last[n] = -1
	}
	c := 0
	for i, result := range m.Results {
		for ; c < len(m.Calls) && m.Calls[c].Row < result.Row; c++ {
			last[m.Calls[c].Exchange] = m.Calls[c].Row
		}
		near[i] = -1
		if result.Exchange >= 0 {
			near[i] = last[result.Exchange]
		}
	}
	return near
}

// Waits shows where calls wait for their results: waits[i] is the number of messages
// before index i that end the wait.
type Waits []int

// WaitsOf returns the waits of n messages. ends reports whether message i ends
// the wait of the calls before it; its own results still count.
func WaitsOf(n int, ends func(i int) bool) Waits {
	w := make(Waits, n+1)
	for i := range n {
		w[i+1] = w[i]
		if ends(i) {
			w[i+1]++
		}
	}
	return w
}

// InPlace reports whether a result in message result is in its place for a call in
// message call.
func (w Waits) InPlace(call, result int) bool {
	return call < result && w[call+1] == w[result]
}

// Pairs is the reading of a Matcher in which each call has a result of its own. Calls and
// results are indexes into Calls and Results of the Matcher.
type Pairs struct {
	Answers []int // by call: its result, or -1
	Fates   []Fate
}

// Fate is the outcome for one result.
type Fate struct {
	Kind FateKind
	Call int // the call that it answers, or -1
}

// FateKind is the relation of a result to the calls.
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

// pairInPlace pairs the results that are in their place. The others become stray, or
// surplus where their id has calls.
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

// The texts in place of a result that a fork cut off, and the answer that is added before
// the next prompt, as in the reference; UncapturedResult is of this library.
const (
	// RepairedResult is in the place of a result that was never captured.
	RepairedResult = `{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}`

	// UncapturedResult is RepairedResult for a model, which is to look before it calls again.
	UncapturedResult = `{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured. ` +
		`Whether the tool ran is not known: its outcome is unknown."}`

	ForkedResult = `{"error": "Tool execution interrupted by session fork", "forked": true, ` +
		`"message": "This tool call was in progress when the session was forked. The result is not available in this forked session."}`
	ForkedAnswer = "The previous tool calls were interrupted by a session fork. Results are not available in this forked session."
)
