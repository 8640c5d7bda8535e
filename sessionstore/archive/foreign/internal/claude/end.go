package claude

import (
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// end is the place from which Claude Code resumes a file: the record that it was at
// when it wrote the last line of kind last-prompt, or else, and where the conversation
// went on from there, the last record.
type end struct {
	last  int32  // the last record of the conversation; -1: none
	at    uint64 // hash of the uuid of the record that the tool was at; 0: unknown
	moved bool   // a person chose that record, and nothing follows in the file
}

// line takes a line, which is the record at.
func (e *end) line(l line, at int32) {
	switch {
	case l.kind == "last-prompt" && l.leaf != "":
		uuid := thread.Hash(l.leaf)
		e.moved = l.explicit || e.moved && uuid == e.at
		e.at = uuid
	case !inChain[l.kind] || l.uuid == "" || l.sidechain || l.kind == "progress":
	case thread.Text(thread.Members(l.attach, "type")[0]) == "fork_briefing": // it is for a sub-agent
	default:
		e.last, e.moved = at, false
		if l.kind == "system" && l.subtype == "compact_boundary" {
			e.at = 0
		}
	}
}

// goesOn reports whether the record last follows from another one, or from another part of
// the same response: parallel calls have their results one behind the other.
func goesOn(t *thread.Table, from, last int32) bool {
	call := from
	for steps := 0; call >= 0 && !t.Records.At(call).Is(thread.IsUser|thread.IsAssistant) && steps < t.Records.Len(); steps++ {
		call = t.Records.At(call).Parent
	}
	if call >= 0 && t.Records.At(call).Is(thread.HasResults) {
		call = t.Records.At(call).Parent
	}
	behind := false // a part of the response follows, or a result
	for at := range t.Walk(last, thread.ActiveLine) {
		r := t.Records.At(at)
		part := call >= 0 && r.Is(thread.IsAssistant) && t.Records.At(call).Is(thread.IsAssistant) && r.Key == t.Records.At(call).Key
		if at == from || part && behind {
			return true
		}
		behind = part || r.Is(thread.HasResults)
	}
	return false
}
