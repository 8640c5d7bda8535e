package slice

import (
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
)

// mendIDs gives calls, and the results that answer them, ids that are allowed.
func (m *mender) mendIDs() {
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
func (m *mender) edit(edits map[int]*renaming, row int, why Reason) *renaming {
	if edits[row] == nil {
		edits[row] = &renaming{listed: map[int]string{}, blocks: map[int]string{}}
	}
	m.pieces[row].blame(why)
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
	return pyjson.TrimSpace(pyjson.Splice(raw, member, pyjson.AppendQuoted(nil, id, pyjson.Style{})))
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
