package sessionstore

import (
	"math"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// viewed are the members that the views of a message ask for.
var viewed = [...]string{"role", "content", "timestamp", "ts", "metadata", "tool_calls", "tool_call_id"}

// places tells where in a row the values of the viewed members begin and end;
// both are zero for one that is not there. They are found in one pass, when a
// view is asked for first.
type places [len(viewed)][2]uint32

// place returns the value of a viewed member.
func (m *message) place(i int) ([]byte, bool) {
	row := m.value()
	if uint64(len(row)) > math.MaxUint32 {
		return m.find(viewed[i])
	}
	at := m.seen.Load()
	if at == nil {
		at = placesIn(row, m.long)
		m.seen.Store(at) // two goroutines find the same
	}
	from, to := at[i][0], at[i][1]
	return row[from:to:to], to > 0
}

func placesIn(row []byte, long pyjson.Long) *places {
	at := &places{}
	if pyjson.KindOf(row) != pyjson.Object {
		return at
	}
	for member := range long.Members(row) {
		for i, name := range viewed {
			if pyjson.KeyIs(member.Key, name) {
				at[i] = [2]uint32{uint32(member.ValueAt), uint32(member.ValueAt + len(member.Value))}
				break
			}
		}
	}
	return at
}
