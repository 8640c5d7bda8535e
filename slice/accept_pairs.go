package slice

// ref is a call or a result: the n-th of a message.
type ref struct{ row, n int }

// matching tells which results answer which calls.
type matching struct {
	answer    map[ref]ref // calls to their results, where both are in their place
	misplaced [][2]ref    // calls and their results, where the result must be moved
	missing   []ref       // calls without a result
	stray     []ref       // results without a call
	surplus   []ref       // results of calls that have one
}

// matcher goes once over the messages.
type matcher struct {
	rows    []sent
	waiting map[string][]ref // calls whose result may come next
	matching
	loose []ref // results that answer no waiting call
}

// match finds the results of all calls.
func (r rules) match(rows []sent) matching {
	m := &matcher{rows: rows, waiting: map[string][]ref{}, matching: matching{answer: map[ref]ref{}}}
	for i := range rows {
		s := &rows[i]
		for n, result := range s.results {
			m.take(ref{i, n}, result.id)
		}
		says := s.rest == person || s.rest == aside
		if (says || r.adjacent && s.closes) && len(m.waiting) > 0 {
			m.waiting = map[string][]ref{}
		}
		for n, c := range s.calls {
			m.waiting[c.id] = append(m.waiting[c.id], ref{i, n})
		}
	}
	m.settle()
	return m.matching
}

// take gives a result to the first call that waits for it.
func (m *matcher) take(result ref, id string) {
	calls := m.waiting[id]
	if len(calls) == 0 {
		m.loose = append(m.loose, result)
		return
	}
	m.answer[calls[0]] = result
	m.waiting[id] = calls[1:]
}

// settle finds out about the results that are not in their place.
func (m *matcher) settle() {
	left := map[string][]ref{} // calls that no result has answered
	known := map[string]bool{}
	for i, s := range m.rows {
		for n, c := range s.calls {
			known[c.id] = true
			if _, ok := m.answer[ref{i, n}]; !ok {
				left[c.id] = append(left[c.id], ref{i, n})
			}
		}
	}
	late := map[ref]bool{}
	for _, result := range m.loose {
		id := m.rows[result.row].results[result.n].id
		switch calls := left[id]; {
		case id == "" || !known[id]:
			m.stray = append(m.stray, result)
		case len(calls) == 0:
			m.surplus = append(m.surplus, result)
		default:
			m.misplaced = append(m.misplaced, [2]ref{calls[0], result})
			late[calls[0]] = true
			left[id] = calls[1:]
		}
	}
	for i, s := range m.rows {
		for n := range s.calls {
			call := ref{i, n}
			if _, ok := m.answer[call]; !ok && !late[call] {
				m.missing = append(m.missing, call)
			}
		}
	}
}

// badIDs returns the calls that need another id, and why.
func (r rules) badIDs(rows []sent) (bad []Refusal, calls []ref) {
	first := map[string]int{}
	for i, s := range rows {
		for n, c := range s.calls {
			before, known := first[c.id]
			why, other := Reason(""), -1
			switch {
			case c.id == "":
				why = CallWithoutID
			case !r.goodID(c.id):
				why = BadCallID
			case known && (r.unique == everywhere || r.unique == inMessage && before == i):
				why = DuplicateCallID
				if before != i {
					other = before
				}
			}
			if why != "" {
				bad = append(bad, Refusal{why, i, other, c.id})
				calls = append(calls, ref{i, n})
			} else if !known || r.unique == inMessage {
				first[c.id] = i
			}
		}
	}
	return bad, calls
}
