package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// pairMender puts results where they belong.
type pairMender struct {
	*mender
	rows   []sent
	out    map[ref]Reason  // results that leave their message
	behind map[int][]piece // what comes right behind a message
}

// mendPairs gives every call one result, behind it, and drops other results.
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

func missingResult(c sentCall) []byte {
	line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), c.id, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "name": `...), c.name, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "content": `...), repairedResult, pyjson.Style{})
	return append(line, '}')
}

// move notes results that go behind their calls: the message as a whole where
// all of it goes to one place, else single blocks.
func (p *pairMender) move(pairs [][2]ref) {
	targets := map[int]int{} // where the results of a message go; -1: not to one place
	counts := map[int]int{}
	for _, pair := range pairs {
		call, result := pair[0].row, pair[1].row
		if to, ok := targets[result]; ok && to != call {
			call = -1
		}
		targets[result] = call
		counts[result]++
	}
	done := map[int]bool{}
	for _, pair := range pairs {
		call, result := pair[0], pair[1]
		why := ResultLate
		if result.row < call.row {
			why = ResultEarly
		}
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

// blockRow returns a message with nothing but one block of another.
func (p *pairMender) blockRow(row, at int) []byte {
	i := 0
	for raw := range pyjson.Elements(members(value(p.pieces[row].msg), "content")[0]) {
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

// strip takes the results that leave out of a message, and reports whether
// anything is left.
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
	list, _ := without(members(value(p.pieces[i].msg), "content")[0], func([]byte) bool {
		at++
		return leaves[at]
	})
	p.replace(i, pyjson.Splice(value(p.pieces[i].msg), "content", list))
	return true
}
