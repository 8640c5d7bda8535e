package conversation

import (
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// A View is a conversation as people see it. It never changes: a transcript that
// grew gets a new one. Its methods may be called by many goroutines.
type View struct {
	Diagnosis slice.Diagnosis // whether calls and results match
	Turns     int             // how many turns there are

	msgs []sessionstore.Message
	rows []row
}

// row holds the facts about a message that follow from the others.
type row struct {
	turn    int // from 1; 0: before the first
	starts  bool
	calls   []call
	results []result
}

// call is a call of a tool with its result.
type call struct {
	sessionstore.ToolCall
	from   place // of the result; row -1: there is none
	astray bool  // something comes between the call and its result
}

// place is the place of a result: the block of a message's content, and -1 for the message
// itself.
type place struct{ row, block int }

// New returns the view of the messages of a transcript, from its beginning. It
// keeps msgs, which the caller must not change. The error Is
// [sessionstore.ErrUnstorable] when a message is the zero Message; there is no
// other error.
func New(msgs []sessionstore.Message) (*View, error) {
	d, err := slice.Diagnose(msgs)
	if err != nil {
		return nil, err
	}
	c := &View{Diagnosis: d, msgs: msgs, rows: make([]row, len(msgs))}
	for turn := range slice.Turns(msgs) {
		c.Turns++
		c.rows[turn.Start].starts = true
		for i := turn.Start; i < turn.End; i++ {
			c.rows[i].turn = c.Turns
		}
	}
	c.pair()
	return c, nil
}

// Len returns the number of messages.
func (c *View) Len() int { return len(c.msgs) }

// pair gives each call the first result behind it that has its id and is not given yet.
// Results that are left are shown alone.
func (c *View) pair() {
	astray := map[string]bool{}
	for _, id := range c.Diagnosis.Misplaced {
		astray[id] = id != ""
	}
	type open struct{ row, call int }
	waiting := map[string]open{}
	for i, m := range c.msgs {
		r := &c.rows[i]
		if m.Role() == "assistant" {
			for _, tool := range m.ToolCalls() {
				r.calls = append(r.calls, call{ToolCall: tool, from: place{-1, -1}, astray: astray[tool.ID]})
				if tool.ID != "" {
					waiting[tool.ID] = open{i, len(r.calls) - 1}
				}
			}
			continue
		}
		r.results = resultsIn(m)
		for k := range r.results {
			res := &r.results[k]
			if at, ok := waiting[res.id]; ok && res.id != "" {
				delete(waiting, res.id)
				res.call = at.row
				c.rows[at.row].calls[at.call].from = place{i, res.block}
			}
		}
	}
}

// ChangedSince returns the index of the first message that shows something else
// than it did while there were only the first n messages: n itself, or an earlier
// message with a call that a later one answers. It is at most [View.Len]. A page
// that showed n messages draws anew from there on.
func (c *View) ChangedSince(n int) int {
	first := min(max(n, 0), len(c.rows))
	for _, r := range c.rows[first:] {
		for _, res := range r.results {
			if res.call >= 0 {
				first = min(first, res.call)
			}
		}
	}
	return first
}

// Starts returns the index of the message that begins each turn, in order.
func (c *View) Starts() []int {
	starts := make([]int, 0, c.Turns)
	for i, r := range c.rows {
		if r.starts {
			starts = append(starts, i)
		}
	}
	return starts
}
