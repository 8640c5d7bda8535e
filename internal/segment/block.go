package segment

import (
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// A Block is the summary of one line, small and made for queries. It holds
// names, ids and numbers, never content. Index is the line's place in its
// segment, Len its bytes. A line that is no JSON object has nothing else.
type Block struct {
	Kind   string   `json:"k"` // message, event, phase_output, conversation or state
	Index  int      `json:"i"`
	Role   string   `json:"role,omitempty"`
	Event  string   `json:"event,omitempty"`
	Status string   `json:"status,omitempty"`
	Turn   int      `json:"turn,omitempty"` // of a transcript, from 1; 0 before the first
	Time   string   `json:"ts,omitempty"`   // as it stands in the line
	Tools  []string `json:"tools,omitempty"`
	Calls  []string `json:"calls,omitempty"` // ids of the calls made, or answered
	Len    int64    `json:"len"`
}

// Longer names are left out, more of them too: a block stays small.
const (
	maxName  = 64
	maxNames = 16
)

// kinds names the blocks of each kind of stream.
func (k Kind) block() string {
	switch k {
	case KindEvents:
		return "event"
	case KindPhases:
		return "phase_output"
	case KindConversation:
		return "conversation"
	case KindStates:
		return "state"
	}
	return "message"
}

// summarise returns the block of a line, without its index.
func summarise(k Kind, line []byte, turn int) Block {
	b := Block{Kind: k.block(), Len: int64(len(line)), Turn: turn}
	if pyjson.Check(line, pyjson.Tolerant) != nil {
		return b
	}
	var stamps [3]string
	for m := range pyjson.Members(line) {
		switch pyjson.Text(m.Key) {
		case "role":
			b.Role = name(m.Value)
		case "event":
			b.Event = name(m.Value)
		case "status":
			b.Status = name(m.Value)
		case "timestamp", "created_at":
			stamps[0] = name(m.Value)
		case "ts":
			stamps[1] = name(m.Value)
		case "metadata":
			v, _ := pyjson.Lookup(m.Value, "timestamp")
			stamps[2] = name(v)
		case "tool_calls":
			b.addCalls(pyjson.Elements(m.Value))
		case "tool_call_id":
			b.Calls = append(b.Calls, names(m.Value)...)
		case "content":
			b.addContent(m.Value)
		}
	}
	for _, s := range stamps {
		if b.Time == "" {
			b.Time = s
		}
	}
	b.Tools, b.Calls = few(b.Tools), few(b.Calls)
	return b
}

// addCalls takes the calls of a message, in any of the forms in use.
func (b *Block) addCalls(calls iter.Seq[[]byte]) {
	for call := range calls {
		if len(b.Tools)+len(b.Calls) > 4*maxNames {
			return
		}
		fn, _ := pyjson.Lookup(call, "function")
		for _, of := range [][]byte{call, fn} {
			for _, member := range []string{"tool", "name"} {
				v, _ := pyjson.Lookup(of, member)
				b.Tools = append(b.Tools, names(v)...)
			}
		}
		id, _ := pyjson.Lookup(call, "id")
		b.Calls = append(b.Calls, names(id)...)
	}
}

// addContent takes the calls and results among the parts of a content.
func (b *Block) addContent(content []byte) {
	for part, values := range pyjson.Pick(content, "type") {
		switch string(values[0]) {
		case `"tool_use"`, `"tool_call"`:
			b.addCalls(func(yield func([]byte) bool) { yield(part) })
		case `"tool_result"`:
			id, _ := pyjson.Lookup(part, "tool_use_id")
			b.Calls = append(b.Calls, names(id)...)
		}
	}
}

// name returns a short text, and "" for everything else.
func name(v []byte) string {
	if len(v) < 2 || v[0] != '"' || len(v) > 6*maxName {
		return ""
	}
	text := pyjson.Text(v)
	if len(text) > maxName {
		return ""
	}
	return text
}

func names(v []byte) []string {
	if text := name(v); text != "" {
		return []string{text}
	}
	return nil
}

// few returns the first names, each once.
func few(all []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s] && len(out) < maxNames {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
