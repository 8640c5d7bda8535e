package history

import "slices"

// None is the number in a [State] that has none.
const None = -1

// A State is a reader's view of a subject: the keys of its rows, in order.
type State struct {
	Gone   bool     `json:"gone,omitempty"`
	Rows   []string `json:"rows,omitempty"`
	Number int      `json:"number"` // a member of the metadata; [None]: there is none
	From   string   `json:"from,omitempty"`
	Err    string   `json:"err,omitempty"` // why it cannot be read
}

// Gone is the state of a subject that is not there.
func Gone() State { return State{Gone: true, Number: None} }

func (s State) empty() bool { return s.Gone || len(s.Rows) == 0 && s.Number == None }

// same reports whether the rows of both are the same.
func (s State) same(o State) bool { return s.Gone == o.Gone && slices.Equal(s.Rows, o.Rows) }

// begins reports whether the rows of o begin with the rows of s.
func (s State) begins(o State) bool {
	return len(s.Rows) <= len(o.Rows) && slices.Equal(s.Rows, o.Rows[:len(s.Rows)])
}
