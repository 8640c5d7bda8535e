// Package approvals knows where the files of an agent hold what its user approved, and
// withdraws the approvals from files that come from elsewhere.
package approvals

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// CallsFile is the file of a session with the calls that wait for approval or had their
// verdict. The commands that are approved for good are in [sessiondir.State].
const CallsFile = "pending_approvals.json"

// The members of these files: of CallsFile the array of calls, of each call its verdict or,
// once it ran, its digest, and the mark of an approval, of State the arrays of commands and of
// their marks.
const (
	Calls    = "approvals"
	Verdict  = "verdict"
	Ran      = "ran"
	Mark     = "mark"
	Commands = "approvedCommands"
	Marks    = "approvedMarks"
)

// The verdicts that Withdraw knows.
const (
	Undecided = "pending"
	Approved  = "approved"
)

// Withdrawn counts what a file approved.
type Withdrawn struct {
	Calls    int // they are undecided now
	Commands int // they are left out
}

// Withdraw returns the content of a session's file without the approvals in it. The calls
// that were rejected, and those that ran, stay: otherwise they could run. Every other byte
// is kept, and all of a file that no program of this library reads as an object.
func Withdraw(file string, content []byte) ([]byte, Withdrawn) {
	switch {
	case pyjson.Check(content, pyjson.Tolerant) != nil:
	case file == CallsFile:
		return withdrawCalls(content)
	case file == sessiondir.State:
		return withdrawCommands(content)
	}
	return content, Withdrawn{}
}

func withdrawCommands(content []byte) ([]byte, Withdrawn) {
	list, _ := pyjson.Lookup(content, Commands)
	n := 0
	for range pyjson.Elements(list) {
		n++
	}
	if n == 0 {
		return content, Withdrawn{}
	}
	return pyjson.Remove(pyjson.Remove(content, Commands), Marks), Withdrawn{Commands: n}
}

func withdrawCalls(content []byte) ([]byte, Withdrawn) {
	all, _ := pyjson.Lookup(content, Calls)
	var out []byte
	rest, n := all, 0
	for call := range pyjson.Elements(all) {
		before, after, _ := bytes.Cut(rest, call)
		out, rest = append(out, before...), after
		if verdict, _ := pyjson.Lookup(call, Verdict); pyjson.Text(verdict) == Approved {
			call = pyjson.Remove(pyjson.Splice(call, Verdict, pyjson.Quote(Undecided)), Mark)
			n++
		}
		out = append(out, call...)
	}
	if n == 0 {
		return content, Withdrawn{}
	}
	return pyjson.Splice(content, Calls, append(out, rest...)), Withdrawn{Calls: n}
}
