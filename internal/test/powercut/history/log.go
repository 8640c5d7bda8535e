package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Note is one line of the log of a workload: a call begins, or returns.
type Note struct {
	At      uint64  `json:"at"` // how many entries the disk's record had then
	Call    int64   `json:"call"`
	Subject Subject `json:"subject"`
	Kind    string  `json:"kind"`
	State   *State  `json:"state,omitempty"` // nil: the call begins
	Err     string  `json:"err,omitempty"`   // why the call failed
	Loose   bool    `json:"loose,omitempty"` // a success promises nothing
}

// A Call is one call on a subject.
type Call struct {
	Kind   string
	From   int
	To     int   // when it was acknowledged; see Failed
	After  State // as a reader saw it then
	Ended  bool
	Failed string
	Loose  bool // a success promises nothing
}

func (c *Call) acked(cut int) bool { return c.Ended && c.Failed == "" && !c.Loose && c.To <= cut }

// A History is the calls on one subject, in the order in which they began.
type History struct {
	Subject Subject
	Calls   []*Call
}

// Read returns the histories in a log, in the order of their first calls.
func Read(in io.Reader) ([]*History, error) {
	by, calls := map[Subject]*History{}, map[int64]*Call{}
	var all []*History
	d := json.NewDecoder(bufio.NewReader(in))
	for {
		var n Note
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		h := by[n.Subject]
		if h == nil {
			h = &History{Subject: n.Subject}
			by[n.Subject] = h
			all = append(all, h)
		}
		c := calls[n.Call]
		switch {
		case n.State == nil:
			c = &Call{Kind: n.Kind, From: int(n.At), Loose: n.Loose}
			calls[n.Call] = c
			h.Calls = append(h.Calls, c)
		case c == nil:
			return nil, fmt.Errorf("call %d returns and has not begun", n.Call)
		default:
			c.To, c.After, c.Ended, c.Failed = int(n.At), *n.State, true, n.Err
		}
	}
}

// Begun reports whether a call has begun before the cut.
func (h *History) Begun(cut int) bool { return len(h.Calls) > 0 && h.Calls[0].From <= cut }
