package slice

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

// call is a call of a tool with the names of the tool.
type call struct {
	key
	function string // where calls are completed
	tool     string // where they are repaired
}

// callsIn returns the calls that an assistant message makes, those of which
// [row] has the keys.
func callsIn(line []byte) (calls []call) {
	found := members(line, "tool_calls", "content")
	listed := map[key]int{}
	for raw := range pyjson.Elements(found[0]) {
		if pyjson.KindOf(raw) == pyjson.Object {
			c := listedCall(raw)
			listed[c.key] = len(calls)
			calls = append(calls, c)
		}
	}
	for block := range pyjson.Elements(found[1]) {
		if !isBlock(block, "tool_use") {
			continue
		}
		f := members(block, "id", "name")
		c := call{keyOf(f[0]), textOf(f[1]), textOf(f[1])}
		at, ok := listed[c.key]
		switch {
		case !ok || !c.named:
			calls = append(calls, c)
		case c.function != "":
			calls[at].function = c.function // one call in both forms
		}
	}
	return calls
}

func listedCall(raw []byte) call {
	f := members(raw, "id", "tool", "function", "name")
	function := textOf(members(f[2], "name")[0])
	c := call{keyOf(f[0]), function, function}
	if c.function == "" {
		c.function = textOf(f[3])
	}
	if f[1] != nil {
		c.tool = textOf(f[1])
	}
	return c
}
