package slice

// badIDs returns the calls that need another id, by their index among all
// calls, and for each of them the reason.
func (r rules) badIDs(rows []sent) (calls []int, bad []Refusal) {
	first := map[string]int{} // by id: the message with the call that may keep it
	call := -1
	for i, s := range rows {
		for _, c := range s.calls {
			call++
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
				calls = append(calls, call)
				bad = append(bad, Refusal{why, i, other, c.id})
			} else if !known || r.unique == inMessage {
				first[c.id] = i
			}
		}
	}
	return calls, bad
}
