package accept

import (
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// pairFixer moves results behind their calls.
type pairFixer struct {
	*fixer
	rows   []sent
	out    map[ref]Reason  // results that are removed from their message
	behind map[int][]piece // the pieces to insert right behind a message
}

// mendPairs gives every call one result, right behind it, and removes the other
// results.
func (m *fixer) mendPairs() {
	rows := m.rows()
	found := m.match(rows)
	if len(found.misplaced)+len(found.missing)+len(found.stray)+len(found.surplus) == 0 {
		return
	}
	p := &pairFixer{fixer: m, rows: rows, out: map[ref]Reason{}, behind: map[int][]piece{}}
	for _, result := range found.stray {
		p.out[result] = ResultNoCall
	}
	for _, result := range found.surplus {
		p.out[result] = DuplicateResult
	}
	p.move(found.misplaced)
	for _, call := range found.missing {
		c := rows[call.row].calls[call.n]
		p.behind[call.row] = append(p.behind[call.row], piece{msg: m.parse(missingResult(c)), row: -1, why: []Reason{CallNoResult}})
	}
	p.rebuild()
}

// move notes the results that go behind their calls. If a message holds nothing
// but results that all go to one place, it moves as a whole. Otherwise each
// result becomes a message of its own.
func (p *pairFixer) move(misplaced []pair) {
	targets := map[int]int{} // where the results of a message go; -1: not to one place
	counts := map[int]int{}
	for _, pr := range misplaced {
		call, result := pr.call.row, pr.result.row
		if to, ok := targets[result]; ok && to != call {
			call = -1
		}
		targets[result] = call
		counts[result]++
	}
	done := map[int]bool{}
	for _, pr := range misplaced {
		call, result, why := pr.call, pr.result, pr.reason()
		p.out[result] = why
		s := p.rows[result.row]
		whole := !s.endsWait && targets[result.row] == call.row && counts[result.row] == len(s.results)
		switch {
		case whole && done[result.row]:
		case whole:
			moved := p.pieces[result.row]
			moved.moved = true
			moved.addReasons(why)
			p.behind[call.row] = append(p.behind[call.row], moved)
			done[result.row] = true
		default:
			line := p.blockRow(result.row, s.results[result.n].block)
			p.behind[call.row] = append(p.behind[call.row], piece{msg: p.parse(line), row: -1, why: []Reason{why}})
		}
	}
}

// blockRow returns a user message that holds only block at of message row.
func (p *pairFixer) blockRow(row, at int) []byte {
	i := 0
	for raw := range pyjson.Elements(turns.Members(value(p.pieces[row].msg), "content")[0]) {
		if i == at {
			return append(append([]byte(`{"role": "user", "content": [`), raw...), "]}"...)
		}
		i++
	}
	return nil
}

// rebuild puts the conversation together again.
func (p *pairFixer) rebuild() {
	pieces := make([]piece, 0, len(p.pieces))
	for i := range p.pieces {
		if p.strip(i) {
			pieces = append(pieces, p.pieces[i])
		}
		pieces = append(pieces, p.behind[i]...)
	}
	p.pieces = pieces
}

// strip removes the noted results from message i. It reports whether anything is
// left of the message.
func (p *pairFixer) strip(i int) bool {
	s := p.rows[i]
	leaves := map[int]bool{}
	for n, result := range s.results {
		why, ok := p.out[ref{i, n}]
		if !ok {
			continue
		}
		p.pieces[i].addReasons(why)
		p.noteDrop(p.pieces[i].row, why)
		if result.block < 0 {
			return false
		}
		leaves[result.block] = true
	}
	if len(leaves) == 0 {
		return true
	}
	if !s.endsWait && len(leaves) == len(s.results) {
		return false
	}
	at := -1
	list, _ := pyjson.Without(turns.Members(value(p.pieces[i].msg), "content")[0], func([]byte) bool {
		at++
		return leaves[at]
	})
	p.replace(i, pyjson.Splice(value(p.pieces[i].msg), "content", list))
	return true
}

// missingResult returns the result that [Fix] adds for a call.
func missingResult(c sentCall) []byte {
	line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), c.id, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "name": `...), c.name, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "content": `...), turns.UncapturedResult, pyjson.Style{})
	return append(line, '}')
}

// mendIDs gives calls, and the results that answer them, ids that are allowed.
func (m *fixer) mendIDs() {
	rows := m.rows()
	calls, bad := m.badIDs(rows)
	if len(bad) == 0 {
		return
	}
	found := m.match(rows)
	next := freshIDs(rows)
	edits := map[int]*renaming{}
	for i, n := range calls {
		id, call := next(), found.calls[n]
		m.edit(edits, call.row, bad[i].Reason).call(rows[call.row].calls[call.n], id)
		if result, ok := found.answer(n); ok {
			m.edit(edits, result.row, bad[i].Reason).result(rows[result.row].results[result.n], id)
		}
	}
	for row, e := range edits {
		m.replace(row, e.apply(value(m.pieces[row].msg)))
	}
}

// edit returns the renaming of message row, and notes why it is changed.
func (m *fixer) edit(edits map[int]*renaming, row int, why Reason) *renaming {
	if edits[row] == nil {
		edits[row] = &renaming{listed: map[int]string{}, blocks: map[int]string{}}
	}
	m.pieces[row].addReasons(why)
	return edits[row]
}

// renaming holds the new ids of the calls and results of one message.
type renaming struct {
	whole  string         // new id of the message, if it is a result as a whole
	listed map[int]string // new ids of elements of tool_calls
	blocks map[int]string // new ids of elements of content
}

func (e *renaming) call(c sentCall, id string) {
	for _, p := range c.places {
		if p.listed {
			e.listed[p.at] = id
		} else {
			e.blocks[p.at] = id
		}
	}
}

func (e *renaming) result(r sentResult, id string) {
	if r.block < 0 {
		e.whole = id
		return
	}
	e.blocks[r.block] = id
}

func (e *renaming) apply(line []byte) []byte {
	if e.whole != "" {
		line = setID(line, "tool_call_id", e.whole)
	}
	line = renamed(line, "tool_calls", e.listed)
	return pyjson.TrimSpace(renamed(line, "content", e.blocks))
}

// renamed returns a message in which some elements of the member name have
// other ids.
func renamed(line []byte, name string, ids map[int]string) []byte {
	if len(ids) == 0 {
		return line
	}
	var list []block
	for raw := range pyjson.Elements(turns.Members(line, name)[0]) {
		if id, ok := ids[len(list)]; ok {
			raw = setID(raw, idMember(raw), id)
		}
		list = append(list, block{raw: raw})
	}
	return pyjson.Splice(line, name, arrayOf(list))
}

// idMember returns the name of the member that holds the id of a call or result.
func idMember(raw []byte) string {
	if !turns.IsBlock(raw, "tool_result") {
		return "id"
	}
	if f := turns.Members(raw, "tool_use_id", "tool_call_id"); f[0] == nil && f[1] != nil {
		return "tool_call_id"
	}
	return "tool_use_id"
}

func setID(raw []byte, member, id string) []byte {
	return pyjson.TrimSpace(pyjson.Splice(raw, member, pyjson.Quote(id)))
}

const mendedPrefix = "mended_"

// freshIDs returns a function that returns ids which no call and no result has.
func freshIDs(rows []sent) func() string {
	last := 0
	note := func(id string) {
		if tail, ok := strings.CutPrefix(id, mendedPrefix); ok {
			if n, err := strconv.Atoi(tail); err == nil && n < 1<<30 {
				last = max(last, n)
			}
		}
	}
	for _, s := range rows {
		for _, c := range s.calls {
			note(c.id)
		}
		for _, result := range s.results {
			note(result.id)
		}
	}
	return func() string {
		last++
		return mendedPrefix + strconv.Itoa(last)
	}
}
