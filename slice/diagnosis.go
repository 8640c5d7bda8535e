package slice

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Diagnosis tells what keeps a conversation from being continued.
type Diagnosis struct {
	Status     string       `json:"status"`             // healthy or broken
	Modes      []string     `json:"failure_modes"`      // missing_tool_results, ordering_violation, incomplete_assistant_turn
	Orphaned   []string     `json:"orphaned_tool_ids"`  // calls without a result; "" stands for calls without an id
	Misplaced  []string     `json:"misplaced_tool_ids"` // calls with something between them and their result
	Incomplete []Incomplete `json:"incomplete_turns"`
	Action     string       `json:"recommended_action"` // none or repair
}

// Incomplete is a turn that ends with results of tools.
type Incomplete struct {
	AfterLine  int    `json:"after_line"`  // the number of the last message, from 1
	AfterIndex int    `json:"after_index"` // its index
	Missing    string `json:"missing"`     // assistant_response
}

// Healthy reports whether nothing is wrong.
func (d Diagnosis) Healthy() bool { return d.Status == "healthy" }

// Diagnose tells what is wrong with a conversation, as the reference does:
//
//   - missing_tool_results: calls without a result anywhere;
//   - ordering_violation: between a call and its result stands a real user
//     message, or an assistant message that makes no calls;
//   - incomplete_assistant_turn: the last result of a message's calls is the
//     end, or a real user message follows.
//
// Of several calls or results of one id the last counts. AfterLine is the line
// of a transcript without blank lines. The error is for the zero Message only.
func Diagnose(msgs []sessionstore.Message) (Diagnosis, error) {
	for i, m := range msgs {
		if m == (sessionstore.Message{}) {
			return Diagnosis{}, fmt.Errorf("diagnose message %d: %w: it is the zero Message", i, sessionstore.ErrUnstorable)
		}
	}
	return diagnose(readRows(msgs)), nil
}

func diagnose(rows []row) Diagnosis {
	d := Diagnosis{Status: "healthy", Modes: []string{}, Orphaned: []string{}, Misplaced: []string{}, Incomplete: []Incomplete{}, Action: "none"}
	x := newIndex(rows)
	for i := range x.calls {
		c := &x.calls[i]
		switch {
		case c.result < 0:
			d.Orphaned = append(d.Orphaned, c.id)
			c.broken = true
		case x.disrupted(c):
			d.Misplaced = append(d.Misplaced, c.id)
			c.broken = true
		}
	}
	for n := range x.calls {
		if at, ok := x.unfinished(n); ok {
			d.Incomplete = append(d.Incomplete, Incomplete{at + 1, at, "assistant_response"})
		}
	}
	d.name("missing_tool_results", len(d.Orphaned))
	d.name("ordering_violation", len(d.Misplaced))
	d.name("incomplete_assistant_turn", len(d.Incomplete))
	return d
}

// name notes a failure that was met n times.
func (d *Diagnosis) name(mode string, n int) {
	if n > 0 {
		d.Status, d.Action = "broken", "repair"
		d.Modes = append(d.Modes, mode)
	}
}

// index knows where calls and results are.
type index struct {
	rows   []row
	calls  []known // different ones, as they appear first
	made   []int   // the numbers of all calls, message by message
	first  []int   // where in made those of a message begin; one more at the end
	breaks []int   // how many messages before an index stand between calls and results
}

// known is what is known of a call.
type known struct {
	key
	use    int // the last message with the call
	result int // the last message with a result of it; -1: none
	broken bool
}

func newIndex(rows []row) *index {
	x := &index{rows: rows, first: make([]int, len(rows)+1), breaks: make([]int, len(rows)+1)}
	for i, r := range rows {
		x.first[i+1] = x.first[i] + len(r.calls)
		x.breaks[i+1] = x.breaks[i]
		if r.speaks || r.assistant && !r.acts {
			x.breaks[i+1]++
		}
	}
	x.made = make([]int, 0, x.first[len(rows)])
	numbers := make(map[key]int, cap(x.made))
	for i, r := range rows {
		for _, k := range r.calls {
			n, ok := numbers[k]
			if !ok {
				n = len(x.calls)
				numbers[k] = n
				x.calls = append(x.calls, known{key: k, result: -1})
			}
			x.calls[n].use = i
			x.made = append(x.made, n)
		}
	}
	for i, r := range rows {
		for _, id := range r.results {
			if n, ok := numbers[key{id, true}]; ok {
				x.calls[n].result = i
			}
		}
	}
	return x
}

// madeBy returns the numbers of the calls that a message makes.
func (x *index) madeBy(i int) []int { return x.made[x.first[i]:x.first[i+1]] }

// disrupted reports whether something stands between a call and its result.
func (x *index) disrupted(c *known) bool {
	return c.result > c.use && x.breaks[c.result] > x.breaks[c.use+1]
}

// unfinished returns the last result of the calls of the message that makes
// call n last, if the turn ends there. It is asked about the first call of each
// message alone. Calls that are all broken have no result to look for.
func (x *index) unfinished(n int) (last int, ok bool) {
	use := x.calls[n].use
	all := x.madeBy(use)
	if all[0] != n {
		return 0, false
	}
	last = use
	whole := false
	for _, n := range all {
		whole = whole || !x.calls[n].broken
		last = max(last, x.calls[n].result)
	}
	if !whole || last == use || x.rows[last].speaks {
		return 0, false
	}
	return last, last+1 == len(x.rows) || x.rows[last+1].asks()
}

// asks reports whether the message is a real user message and nothing else, so
// that a turn must be over before it.
func (r row) asks() bool { return r.speaks && r.begins }
