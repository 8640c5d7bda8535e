package sessionstore

import (
	"bytes"
	"math"
	"slices"

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

// viewOf returns the place of the member that key names, or -1.
func viewOf(key []byte) int {
	if bytes.IndexByte(key, '\\') >= 0 {
		return slices.Index(viewed[:], pyjson.Text(key))
	}
	for i := range viewed {
		if string(key[1:len(key)-1]) == viewed[i] {
			return i
		}
	}
	return -1
}

func placesIn(row []byte, long pyjson.Long) *places {
	at := &places{}
	if pyjson.KindOf(row) != pyjson.Object {
		return at
	}
	for member := range long.Members(row) {
		if i := viewOf(member.Key); i >= 0 {
			at[i] = [2]uint32{uint32(member.ValueAt), uint32(member.ValueAt + len(member.Value))}
		}
	}
	return at
}
