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
	broken := map[key]bool{}
	for _, k := range x.order {
		switch result, ok := x.result(k); {
		case !ok:
			d.Orphaned = append(d.Orphaned, k.id)
			broken[k] = true
		case x.disrupted(x.uses[k], result):
			d.Misplaced = append(d.Misplaced, k.id)
			broken[k] = true
		}
	}
	for _, k := range x.order {
		if calls := rows[x.uses[k]].calls; calls[0].key == k {
			if at, ok := x.unfinished(calls, broken); ok {
				d.Incomplete = append(d.Incomplete, Incomplete{at + 1, at, "assistant_response"})
			}
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
	rows    []row
	order   []key       // of the calls, as they appear first
	uses    map[key]int // the last message with the call
	results map[string]int
	breaks  []int // how many messages before an index stand between calls and results
}

func newIndex(rows []row) *index {
	x := &index{rows: rows, uses: map[key]int{}, results: map[string]int{}, breaks: make([]int, len(rows)+1)}
	for i, r := range rows {
		for _, c := range r.calls {
			if _, ok := x.uses[c.key]; !ok {
				x.order = append(x.order, c.key)
			}
			x.uses[c.key] = i
		}
		for _, id := range r.results {
			x.results[id] = i
		}
		x.breaks[i+1] = x.breaks[i]
		if r.speaks || r.assistant && !r.acts {
			x.breaks[i+1]++
		}
	}
	return x
}

// result returns the last message with a result of the call.
func (x *index) result(k key) (int, bool) {
	if !k.named {
		return 0, false
	}
	at, ok := x.results[k.id]
	return at, ok
}

// disrupted reports whether something stands between a call and its result.
func (x *index) disrupted(use, result int) bool {
	return result > use && x.breaks[result] > x.breaks[use+1]
}

// unfinished returns the last result of the calls of one message, if the turn
// ends there. Calls that are all broken have none to look for.
func (x *index) unfinished(calls []call, broken map[key]bool) (last int, ok bool) {
	use := x.uses[calls[0].key]
	last = use
	whole := false
	for _, c := range calls {
		whole = whole || !broken[c.key]
		if at, ok := x.result(c.key); ok {
			last = max(last, at)
		}
	}
	if !whole || last == use || x.rows[last].speaks {
		return 0, false
	}
	return last, last+1 == len(x.rows) || x.rows[last+1].asks()
}

// asks reports whether the message is a real user message and nothing else, so
// that a turn must be over before it.
func (r row) asks() bool { return r.speaks && r.begins }
