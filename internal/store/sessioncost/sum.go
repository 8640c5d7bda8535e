package sessioncost

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Ordinary returns the cost of a session that is no fork: the sum over the responses of
// the log, including the responses that name no session. Invalid costs are skipped
// without notice. known is false if no response has a valid cost. The error is
// [decimal.ErrOverflow].
func (all *Events) Ordinary() (total decimal.Number, known bool, err error) {
	for _, s := range all.steps {
		if !s.cost.valid {
			continue
		}
		known = true
		if total.IsZero() { // the reference adds to (total or 0), so the places of a zero go
			total = decimal.Number{}
		}
		if total, err = decimal.Add(total, s.cost.amount); err != nil {
			return decimal.Number{}, false, err
		}
	}
	return total, known, nil
}

// Fork returns the cost of a fork: the last total of its boundary, and the responses of
// its own log which name it. all is nil if the fork has no log. problems are the reasons,
// sorted and in the words of the newest tools, why the total may be too low; it is empty
// if the total is exact. The error is [decimal.ErrOverflow].
func (all *Events) Fork(b Boundary, owner string) (total decimal.Number, problems []string, err error) {
	problems = slices.Clone(b.Problems)
	if all == nil {
		problems = append(problems, "missing_ci_capture:"+owner)
		all = &Events{}
	}
	problems = append(problems, all.findings(owner)...)
	for _, s := range all.steps {
		if s.submit || !s.scoped {
			continue
		}
		switch {
		case !s.cost.told:
			problems = append(problems, "missing_cost:"+owner)
		case !s.cost.valid:
			problems = append(problems, "invalid_cost:"+owner)
		default:
			if total, err = decimal.Add(total, s.cost.amount); err != nil {
				return decimal.Number{}, nil, err
			}
		}
	}
	if total, err = decimal.Add(b.Last(), total); err != nil {
		return decimal.Number{}, nil, err
	}
	return total, distinct(problems), nil
}

// distinct returns texts sorted and each once.
func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
