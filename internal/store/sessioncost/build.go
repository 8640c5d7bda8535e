package sessioncost

import (
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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
