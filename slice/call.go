package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
)

// call is a call of a tool. The reference takes the tool's name from other
// members when it completes a call than when it repairs one.
type call struct {
	turns.Key
	function string // the name for [ToTurn], see [Complete]
	tool     string // the name for [Repair]
}

// callsIn returns the calls of an assistant message: the same calls whose keys
// are in its [row].
func callsIn(line []byte) (calls []call) {
	found := turns.Members(line, "tool_calls", "content")
	listed := map[turns.Key]int{}
	for raw := range pyjson.Elements(found[0]) {
		if pyjson.KindOf(raw) == pyjson.Object {
			c := listedCall(raw)
			listed[c.Key] = len(calls)
			calls = append(calls, c)
		}
	}
	for block := range pyjson.Elements(found[1]) {
		if !turns.IsBlock(block, "tool_use") {
			continue
		}
		f := turns.Members(block, "id", "name")
		c := call{turns.KeyOf(f[0]), textOf(f[1]), textOf(f[1])}
		at, ok := listed[c.Key]
		switch {
		case !ok || !c.Named:
			calls = append(calls, c)
		case c.function != "":
			calls[at].function = c.function // one call in both forms
		}
	}
	return calls
}

// listedCall returns the call that an element of tool_calls is.
func listedCall(raw []byte) call {
	f := turns.Members(raw, "id", "tool", "function", "name")
	function := textOf(turns.Members(f[2], "name")[0])
	c := call{turns.KeyOf(f[0]), function, function}
	if c.function == "" {
		c.function = textOf(f[3])
	}
	if f[1] != nil {
		c.tool = textOf(f[1])
	}
	return c
}
