package foreign

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// spot is a record of the conversation: the index of its line, and which record of that line it
// is, from 0.
type spot struct{ line, nth int }

// sent is a message that the tool would send, and the records that it is made of.
type sent struct {
	of    []spot
	quiet bool // it is a record of the conversation from which nothing is sent that anybody wrote
	msg   sessionstore.Message

	change accept.AmendKind       // [accept.Replaced]: msg is what the first record is to say, and the others go; [accept.Dropped]: all go
	after  []sessionstore.Message // to be inserted
}

// message returns a message that the tool would send, with the members of a JSON object.
func message(of []spot, members string) sent {
	m, err := sessionstore.ParseMessage([]byte(members))
	return sent{of: of, quiet: err != nil, msg: m}
}

// bySender are refusals that the tools see to as they send: they join messages of one side, and
// begin with one of the user.
var bySender = []accept.Reason{accept.RolesInARow, accept.FirstNotUser}

func certain(r accept.Refusal) bool { return !r.Disputed && !slices.Contains(bySender, r.Reason) }

// judge returns why a provider refuses messages, and notes in them what mends that. moved says
// that there are other messages then, or in another order.
func judge(all []sent, lines []line, target accept.Target) (faults []Fault, moved bool) {
	var at []int // the indexes of those that are sent
	var msgs []sessionstore.Message
	for i, s := range all {
		if !s.quiet {
			at, msgs = append(at, i), append(msgs, s.msg)
		}
	}
	note := func(row int, mend string, reasons ...accept.Reason) {
		f := Fault{Kind: "refused", Mend: mend}
		if row >= 0 && row < len(at) {
			f.Line = lines[all[at[row]].of[0].line].n
		}
		for _, f.Reason = range reasons {
			faults = append(faults, f)
		}
	}
	fixed, err := target.Fix(msgs)
	if err != nil {
		fixed = accept.Fixed{Messages: msgs}
	}
	for _, a := range fixed.Amendments {
		reasons := slices.DeleteFunc(slices.Clone(a.Reasons), func(r accept.Reason) bool { return slices.Contains(bySender, r) })
		if len(reasons) == 0 {
			continue
		}
		row := a.Row
		if a.Kind == accept.Inserted {
			row = max(0, row-1)
		}
		note(row, string(a.Kind), reasons...)
		switch s := &all[at[row]]; a.Kind {
		case accept.Inserted:
			s.after, moved = append(s.after, a.New), true
		case accept.Dropped:
			s.change, moved = a.Kind, true
		case accept.Replaced:
			s.change, s.msg, moved = a.Kind, a.New, moved || len(s.of) > 1
		}
	}
	for _, r := range target.Check(fixed.Messages) {
		if certain(r) {
			note(-1, "", r.Reason)
		}
	}
	return faults, moved
}

// contentOf returns the content of a message as a list of blocks. A text becomes a block of a
// kind.
func contentOf(m sessionstore.Message, kind string) []byte {
	raw, _ := m.Lookup("content")
	if pyjson.KindOf(raw) != pyjson.String {
		return raw
	}
	return append(append([]byte(`[{"type":"`+kind+`","text":`), raw...), "}]"...)
}
