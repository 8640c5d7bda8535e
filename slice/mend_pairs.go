package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
)

// pairMender moves results behind their calls.
type pairMender struct {
	*mender
	rows   []sent
	out    map[ref]Reason  // results that are removed from their message
	behind map[int][]piece // what is inserted right behind a message
}

// mendPairs gives every call one result, right behind it, and removes the other
// results.
func (m *mender) mendPairs() {
	rows := m.rows()
	found := m.match(rows)
	if len(found.misplaced)+len(found.missing)+len(found.stray)+len(found.surplus) == 0 {
		return
	}
	p := &pairMender{mender: m, rows: rows, out: map[ref]Reason{}, behind: map[int][]piece{}}
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
func (p *pairMender) move(misplaced []pair) {
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
		whole := !s.closes && targets[result.row] == call.row && counts[result.row] == len(s.results)
		switch {
		case whole && done[result.row]:
		case whole:
			moved := p.pieces[result.row]
			moved.moved = true
			moved.blame(why)
			p.behind[call.row] = append(p.behind[call.row], moved)
			done[result.row] = true
		default:
			line := p.blockRow(result.row, s.results[result.n].block)
			p.behind[call.row] = append(p.behind[call.row], piece{msg: p.parse(line), row: -1, why: []Reason{why}})
		}
	}
}

// blockRow returns a user message that holds only block at of message row.
func (p *pairMender) blockRow(row, at int) []byte {
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
func (p *pairMender) rebuild() {
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
func (p *pairMender) strip(i int) bool {
	s := p.rows[i]
	leaves := map[int]bool{}
	for n, result := range s.results {
		why, ok := p.out[ref{i, n}]
		if !ok {
			continue
		}
		p.pieces[i].blame(why)
		p.drops(p.pieces[i].row, why)
		if result.block < 0 {
			return false
		}
		leaves[result.block] = true
	}
	if len(leaves) == 0 {
		return true
	}
	if !s.closes && len(leaves) == len(s.results) {
		return false
	}
	at := -1
	list, _ := without(turns.Members(value(p.pieces[i].msg), "content")[0], func([]byte) bool {
		at++
		return leaves[at]
	})
	p.replace(i, pyjson.Splice(value(p.pieces[i].msg), "content", list))
	return true
}
