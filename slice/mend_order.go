package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// The messages that are inserted between two messages of one side. The user's is
// marked as written by a tool.
const (
	bridgeAnswer   = "(There was no answer.)"
	bridgeQuestion = "<system-reminder>A message of the user is missing here.</system-reminder>"
)

// mendOrder inserts messages so that the sides alternate.
func (m *mender) mendOrder() {
	rows := m.rows()
	before := map[int]piece{}
	m.order(rows, m.match(rows), func(row, last int) {
		role, text, why := "user", bridgeQuestion, RolesInARow
		switch {
		case rows[row].who != model:
			role, text = "assistant", bridgeAnswer
		case last < 0:
			why = FirstNotUser
		}
		line := pyjson.AppendQuoted([]byte(`{"role": "`+role+`", "content": `), text, pyjson.Style{})
		before[row] = piece{msg: m.parse(append(line, '}')), row: -1, why: []Reason{why}}
	})
	if len(before) == 0 {
		return
	}
	pieces := make([]piece, 0, len(m.pieces)+len(before))
	for i, p := range m.pieces {
		if bridge, ok := before[i]; ok {
			pieces = append(pieces, bridge)
		}
		pieces = append(pieces, p)
	}
	m.pieces = pieces
}
