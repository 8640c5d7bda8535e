package sessioncost

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Parent is the session that is forked.
type Parent struct {
	ID       string // the name of its directory
	Rows     []Row  // its messages
	Forked   bool   // its metadata have a member forked_from_turn, of whatever value
	Boundary []byte // its own boundary, nil if it has none
}

// Build returns the boundary, a JSON object, of a fork that has the rows child, the first
// turns of the parent. events reads the parent's log, and returns nil if there is none;
// it is not called if the fork lies within the turns that the parent itself inherits. The
// error is an error of events or [decimal.ErrOverflow]. Every other fault makes the
// boundary unavailable and is a reason in it.
func Build(p Parent, child []Row, turns int, events func() (*Events, error)) ([]byte, error) {
	parent, ok := storedRows(p.Rows)
	own, ok2 := storedRows(child)
	switch {
	case !ok || !ok2:
		return unavailable(p.ID, "invalid_inherited_prefix"), nil
	case turns < 1 || turns != CountTurns(own):
		return unavailable(p.ID, "invalid_fork_turn"), nil
	case turns > maxTurns:
		return unavailable(p.ID, tooLarge), nil
	}
	all := Turns(parent)
	inherited, problems := p.inherited(parent)
	switch {
	case len(problems) > 0:
		return unavailable(p.ID, problems...), nil
	case endsWithin(all, turns):
		return unavailable(p.ID, "unprovable_intra_prompt_cutoff"), nil
	}
	done := priced{}
	if turns <= len(inherited) {
		done.totals = inherited[:turns]
	} else if err := price(&done, p.ID, all, inherited, turns, events); err != nil {
		return nil, err
	}
	if len(done.problems) > 0 {
		return unavailable(p.ID, done.problems...), nil
	}
	hash, ok := Fingerprint(child, turns)
	if !ok {
		return unavailable(p.ID, "invalid_inherited_prefix"), nil
	}
	text := available(p.ID, done, hash, turns > len(inherited))
	if size, ok := sizeOf(text); !ok || size > maxBytes {
		return unavailable(p.ID, tooLarge), nil
	}
	return text, nil
}

const tooLarge = "fork_cost_boundary_too_large"

// inherited returns the totals that the parent inherits, or the reasons why they are not
// known.
func (p Parent) inherited(rows []Row) ([]decimal.Number, []string) {
	if !p.Forked {
		return nil, nil
	}
	b := Verify(p.Boundary)
	if !b.Verified {
		return nil, b.Problems
	}
	if hash, ok := Fingerprint(rows, len(b.Totals)); !ok || hash != b.Hash {
		return nil, []string{"fork_prefix_changed"}
	}
	return b.Totals, nil
}

// endsWithin reports whether a cut behind so many turns leaves output of their
// last prompt behind it: a turn that is no anchor, with output, follows before
// the next anchor.
func endsWithin(all []Turn, turns int) bool {
	for i := turns; i < len(all) && !all[i].Anchor; i++ {
		if all[i].Output {
			return true
		}
	}
	return false
}

// price prices the parent's own turns, which follow the inherited ones.
func price(done *priced, owner string, all []Turn, inherited []decimal.Number, turns int, events func() (*Events, error)) error {
	log, err := events()
	switch {
	case err != nil:
		return err
	case log == nil:
		done.problems = []string{"missing_ci_capture:" + owner}
		return nil
	case turns > len(all):
		done.problems = []string{"invalid_fork_turn:" + owner}
		return nil
	}
	p := pricing{owner: owner, own: all[len(inherited):], first: len(inherited), count: turns - len(inherited), all: log}
	if err := p.run(Boundary{Totals: inherited}.Last()); err != nil {
		return err
	}
	*done = p.priced
	done.totals = append(inherited[:len(inherited):len(inherited)], done.totals...)
	return nil
}

// available returns a verified boundary. own reports whether it holds totals of turns
// that the parent does not inherit.
func available(owner string, done priced, hash string, own bool) []byte {
	turns := strconv.Itoa(len(done.totals))
	b := []byte(`{"version": 1, "status": "verified", "inherited_turn_count": ` + turns + `, "cumulative_cost_usd_by_turn": [`)
	for i, total := range done.totals {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendText(b, total.String())
	}
	b = appendText(append(b, `], "prefix_fingerprint": `...), hash)
	b = appendText(append(b, `, "provenance": {"owner": `...), owner)
	if own {
		line := "null"
		if done.line > 0 {
			line = strconv.Itoa(done.line)
		}
		b = append(b, `, "fence": {"kind": "capture_end", "line": `+line...)
	} else {
		b = append(b, `, "fence": {"kind": "projected_boundary"`...)
	}
	b = append(b, `, "turn": `+turns+`}}`...)
	if len(done.warnings) > 0 {
		b = appendTexts(append(b, `, "warnings": `...), done.warnings)
	}
	return append(b, '}')
}

// unavailable returns a boundary with the reasons why there are no totals.
func unavailable(owner string, reasons ...string) []byte {
	if len(reasons) == 0 {
		reasons = []string{"unavailable"}
	}
	b := []byte(`{"version": 1, "status": "unavailable", "inherited_turn_count": 0, "cumulative_cost_usd_by_turn": [], ` +
		`"prefix_fingerprint": null, "provenance": {"owner": `)
	b = appendText(b, owner)
	b = appendTexts(append(b, `, "fence": "unavailable"}, "reasons": `...), distinct(append([]string(nil), reasons...)))
	return append(b, '}')
}

func appendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendText(b, text)
	}
	return append(b, ']')
}

func appendText(b []byte, text string) []byte { return pyjson.AppendQuoted(b, text, pyjson.Style{}) }

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
	opens := capture.MatchPrompts(submitsIn(p.all.steps), anchorsIn(p.own), len(p.problems) == 0)
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
