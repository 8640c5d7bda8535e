package slice

import "github.com/amplifier-go/sessionstorage/internal/turns"

// ref names a call or a result: element n of those of message row.
type ref struct{ row, n int }

// pair is a call and its result.
type pair struct{ call, result ref }

// reason tells why the result of a pair is not in its place.
func (p pair) reason() Reason {
	if p.result.row < p.call.row {
		return ResultEarly
	}
	return ResultLate
}

// matching tells which results answer which calls, as a provider sees them.
type matching struct {
	calls   []ref // all calls, in the order of the messages
	results []ref // all results, in the order of the messages
	turns.Pairs
	misplaced []pair // where the result must be moved
	missing   []ref  // calls without a result
	stray     []ref  // results without a call
	surplus   []ref  // results of calls that have another one
}

// match gives every call its result, see [turns.Matcher.Pairs]. A user message that
// says something ends the wait for results. For a provider that wants results
// adjacent, so does any other message whose results, if it has any, cannot be
// joined with those behind it.
func (r rules) match(rows []sent) matching {
	m := matching{}
	calls, results := 0, 0
	for _, s := range rows {
		calls += len(s.calls)
		results += len(s.results)
	}
	m.calls, m.results = make([]ref, 0, calls), make([]ref, 0, results)
	found := turns.NewMatcher(calls, results)
	for i, s := range rows {
		for n, c := range s.calls {
			found.AddCall(i, turns.Key{ID: c.id, Named: c.id != ""})
			m.calls = append(m.calls, ref{i, n})
		}
	}
	for i, s := range rows {
		for n, result := range s.results {
			found.AddResult(i, turns.Key{ID: result.id, Named: result.id != ""})
			m.results = append(m.results, ref{i, n})
		}
	}
	m.Pairs = found.Pairs(turns.WaitsOf(len(rows), func(i int) bool {
		s := &rows[i]
		return s.rest == person || s.rest == aside || r.adjacent && s.closes
	}))
	m.sort()
	return m
}

// sort lists the calls and results that are not as they should be.
func (m *matching) sort() {
	for c, result := range m.Answers {
		if result < 0 {
			m.missing = append(m.missing, m.calls[c])
		}
	}
	for i, fate := range m.Fates {
		result := m.results[i]
		switch fate.Kind {
		case turns.Misplaced:
			m.misplaced = append(m.misplaced, pair{m.calls[fate.Call], result})
		case turns.Stray:
			m.stray = append(m.stray, result)
		case turns.Surplus:
			m.surplus = append(m.surplus, result)
		}
	}
}

// answer returns the result of a call, given by its index, and false if it has
// none.
func (m *matching) answer(call int) (result ref, ok bool) {
	if i := m.Answers[call]; i >= 0 {
		return m.results[i], true
	}
	return ref{}, false
}
