package slice

// stand is whose turn it is at a message. row is the message's index, or -1 for
// a message that is still to be inserted.
type stand struct {
	who side
	row int
}

// stands returns whose turn it is at every message once every result stands in
// its place. So a misplaced result is not reported a second time as a wrong
// order.
func stands(rows []sent, m matching) []stand {
	leaving := map[int]int{} // how many results leave a message
	for _, list := range [][]ref{m.stray, m.surplus} {
		for _, result := range list {
			leaving[result.row]++
		}
	}
	arrives := map[int]bool{} // results come behind a message
	for _, p := range m.misplaced {
		leaving[p.result.row]++
		arrives[p.call.row] = true
	}
	for _, call := range m.missing {
		arrives[call.row] = true
	}
	list := make([]stand, 0, len(rows))
	for i, s := range rows {
		if s.who == answers && leaving[i] == len(s.results) {
			s.who = s.rest
		}
		list = append(list, stand{s.who, i})
		if arrives[i] {
			list = append(list, stand{answers, -1})
		}
	}
	return list
}

// order calls bad for every message that breaks the alternation of the sides,
// with the message before it, or with -1 for the first message.
func (r rules) order(rows []sent, m matching, bad func(row, before int)) {
	if !r.alternate {
		return
	}
	last, before := nobody, -1
	for _, s := range stands(rows, m) {
		same := s.who == last || s.who == person && last == answers
		switch {
		case s.who == nobody:
			continue
		case last == nobody && s.who == model:
			bad(s.row, -1)
		case last != nobody && same && s.who != answers && s.who != aside:
			bad(s.row, before)
		}
		if s.who != aside || last == nobody || last == model {
			last = s.who
		}
		if s.row >= 0 {
			before = s.row
		}
	}
}
