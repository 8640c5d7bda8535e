package sessioncost

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// priced holds the costs of turns, or the reasons why they are not known.
type priced struct {
	totals   []decimal.Number // after each turn
	line     int              // of the last response that counts; 0: none
	warnings []string
	problems []string // if there are any, the other fields are not valid
}

// pricing prices the turns of one session.
type pricing struct {
	owner string
	own   []Turn // of the session itself, without the inherited turns
	first int    // the number of turns that it inherits
	count int    // the number of its own turns to price
	all   *Events
	priced
}

// note notes a problem with the log, or with one turn.
func (p *pricing) note(problem string) { p.problems = append(p.problems, problem+":"+p.owner) }

func (p *pricing) noteTurn(problem string, i int) {
	p.problems = append(p.problems, p.about(problem, i))
}

// about returns the text of a problem, or a warning, of own turn i.
func (p *pricing) about(problem string, i int) string {
	return fmt.Sprintf("%s:%s:%d", problem, p.owner, p.first+i+1)
}

// run prices the turns. before is the cost that the session inherits.
func (p *pricing) run(before decimal.Number) error {
	for i, t := range p.own[:p.count] {
		if t.Anchor && t.Prompt == nil {
			p.noteTurn("unsupported_prompt_anchor", i)
		}
	}
	if len(p.problems) > 0 {
		return nil
	}
	p.problems = p.all.findings(p.owner)
	costs, err := p.costs()
	if err != nil {
		return err
	}
	for i, t := range p.own[:p.count] {
		if !t.Anchor && t.Output {
			p.warnings = append(p.warnings, p.about("unmapped_non_anchor_output", i))
		}
		if t.Anchor {
			if before, err = decimal.Add(before, costs[i]); err != nil {
				return err
			}
		}
		p.totals = append(p.totals, before)
	}
	return nil
}

// costs returns the cost of each turn by itself.
func (p *pricing) costs() ([]decimal.Number, error) {
	costs, opened, answered := make([]decimal.Number, p.count), make([]bool, p.count), make([]bool, p.count)
	for _, s := range p.all.steps {
		if s.scoped && s.submit && !s.text {
			p.note("invalid_prompt_submit")
		}
	}
	opens := matchPrompts(p.own, p.all.steps, len(p.problems) == 0)
	open := -1
	for i, s := range p.all.steps {
		switch {
		case !s.scoped:
			continue
		case s.submit:
			turn, ok := opens[i]
			if open = -1; ok && turn < p.count {
				open, opened[turn] = turn, true
			}
			continue
		case open < 0:
			continue
		case !s.cost.told:
			p.note("missing_cost")
			continue
		case !s.cost.valid:
			p.note("invalid_cost")
			continue
		}
		sum, err := decimal.Add(costs[open], s.cost.amount)
		if err != nil {
			return nil, err
		}
		costs[open], answered[open], p.line = sum, true, s.line
	}
	for i, t := range p.own[:p.count] {
		switch {
		case !t.Anchor:
		case !opened[i]:
			p.noteTurn("missing_prompt_fence", i)
		case !answered[i]:
			p.noteTurn("missing_response_cost", i)
		}
	}
	return costs, nil
}
