package sessioncost

import (
	"math"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// Row is a message. A caller that knows the role makes a Row without looking for it in
// the JSON.
type Row struct {
	JSON []byte // an object
	Role string // its member role; "" where that is missing or no string
}

// RowOf returns the row of a JSON value.
func RowOf(raw []byte) Row {
	if pyjson.KindOf(raw) != pyjson.Object {
		return Row{JSON: raw}
	}
	role, _ := pyjson.Lookup(raw, "role")
	if pyjson.KindOf(role) != pyjson.String {
		return Row{JSON: raw}
	}
	return Row{JSON: raw, Role: pyjson.Text(role)}
}

// Turn is a turn as the Python tools count them.
type Turn struct {
	Row    int    // index of the row that begins it
	Anchor bool   // a person wrote its prompt
	Prompt []byte // the JSON text of an anchor's prompt; nil if it has none
	Output bool   // a row of the assistant follows in it
}

// Turns returns the turns of rows.
func Turns(rows []Row) (turns []Turn) {
	for i, row := range rows {
		switch roleOf(row) {
		case user:
			turns = append(turns, turnOf(i, row.JSON))
		case assistant:
			if len(turns) > 0 {
				turns[len(turns)-1].Output = true
			}
		}
	}
	return turns
}

// CountTurns returns the number of turns.
func CountTurns(rows []Row) (n int) {
	for _, row := range rows {
		if roleOf(row) == user {
			n++
		}
	}
	return n
}

func turnOf(i int, row []byte) Turn {
	found := pyjson.Values(row, "content", "metadata", "tool_call_id")
	t := Turn{Row: i, Anchor: turns.IsPrompt(found[0], found[1], found[2] != nil)}
	if t.Anchor {
		t.Prompt = turns.PromptText(found[0])
	}
	return t
}

// role is the role of a row as far as it matters here.
type role int

const (
	other role = iota
	user
	assistant
	tool
	unstored // system and developer, which are never stored
)

func roleOf(row Row) role {
	switch row.Role {
	case "user":
		return user
	case "assistant":
		return assistant
	case "tool":
		return tool
	case "system", "developer":
		return unstored
	}
	return other
}

// shown returns the text that Python's str makes of a value.
func shown(raw []byte) string {
	if pyjson.KindOf(raw) == pyjson.String {
		return pyjson.Text(raw)
	}
	return string(pyjson.AppendRepr(nil, raw, math.MaxInt))
}
