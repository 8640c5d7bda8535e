package agentstate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// ExecutionState is the activity of an agent.
type ExecutionState string

// The execution states.
const (
	Idle        ExecutionState = "idle"
	Processing  ExecutionState = "processing"
	Executing   ExecutionState = "executing"
	Waiting     ExecutionState = "waiting"
	Interrupted ExecutionState = "interrupted"
	Failed      ExecutionState = "error"
)

// The errors that callers branch on, with [errors.Is].
var (
	ErrTransition = errors.New("execution state cannot change so")
	ErrPending    = errors.New("approval is pending already")
	ErrNotPending = errors.New("no such pending approval")
)

const maxErrors = 100

// mayGo reports whether from may become to.
func mayGo(from, to ExecutionState) bool {
	switch from {
	case Idle:
		return to == Processing
	case Processing:
		return slices.Contains([]ExecutionState{Executing, Waiting, Interrupted, Failed, Idle}, to)
	case Executing:
		return slices.Contains([]ExecutionState{Processing, Waiting, Interrupted, Failed, Idle}, to)
	case Waiting:
		return slices.Contains([]ExecutionState{Processing, Executing, Interrupted, Failed}, to)
	case Interrupted, Failed:
		return to == Idle || to == Processing
	}
	return false
}

// A Turn is one turn of an agent.
type Turn struct {
	Number int
	Start  time.Time
	Tokens int64
}

// ErrorRecord is an error that an agent met.
type ErrorRecord struct {
	Timestamp time.Time
	Error     string
	Context   string
}

// A Runtime is the state that an agent forgets. The zero Runtime is idle and ready for use.
type Runtime struct {
	mu          sync.Mutex // guards all below
	state       ExecutionState
	before      ExecutionState // the state that waiting goes back to
	turn        *Turn          // suspended while waiting
	turns       []Turn
	tools       map[string]int
	errors      []ErrorRecord
	interrupted bool
	pending     map[string]Approval
}

// State returns the execution state.
func (r *Runtime) State() ExecutionState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current()
}

func (r *Runtime) current() ExecutionState {
	if r.state == "" {
		return Idle
	}
	return r.state
}

// To changes the execution state, or refuses it with an error that Is
// [ErrTransition]. From idle, interrupted and error, processing begins a turn,
// which starts at the given time; waiting suspends it, and its end is
// interrupted, error or idle, which also drop pending approvals.
func (r *Runtime) To(next ExecutionState, at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.to(next, at)
}

func (r *Runtime) to(next ExecutionState, at time.Time) error {
	from := r.current()
	if !mayGo(from, next) {
		return fmt.Errorf("%w: %q to %q", ErrTransition, from, next)
	}
	switch next {
	case Waiting:
		r.before = from
	case Idle, Interrupted, Failed:
		if r.turn != nil {
			r.turns = append(r.turns, *r.turn)
			r.turn = nil
		}
		clear(r.pending)
	case Processing:
		if r.turn == nil {
			r.turn = &Turn{Number: len(r.turns) + 1, Start: at}
			r.interrupted = false
		}
	}
	r.state = next
	return nil
}

// Turn returns the current turn; there is one only while processing or
// executing.
func (r *Runtime) Turn() (Turn, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn == nil || r.state == Waiting {
		return Turn{}, false
	}
	return *r.turn, true
}

// Turns returns the turns that have ended.
func (r *Runtime) Turns() []Turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.turns)
}

// AddTokens adds to the tokens of the current turn, if there is one, also a
// suspended one. Negative ones are ignored.
func (r *Runtime) AddTokens(tokens int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn != nil && tokens > 0 {
		r.turn.Tokens += tokens
	}
}

// RecordTool counts a use of a tool.
func (r *Runtime) RecordTool(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tools == nil {
		r.tools = map[string]int{}
	}
	r.tools[name]++
}

// Tools returns how often each tool was used.
func (r *Runtime) Tools() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.tools)
}

// RecordError remembers an error; the last 100 are kept.
func (r *Runtime) RecordError(e ErrorRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, e)
	if n := len(r.errors) - maxErrors; n > 0 {
		r.errors = slices.Delete(r.errors, 0, n)
	}
}

// Errors returns the errors that are remembered, oldest first.
func (r *Runtime) Errors() []ErrorRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.errors)
}

// Interrupt asks the agent to stop and, where there is a turn, ends it.
func (r *Runtime) Interrupt(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interrupted = true
	_ = r.to(Interrupted, at) // idle has nothing to interrupt
}

// InterruptRequested reports whether the user interrupted since the last turn
// began.
func (r *Runtime) InterruptRequested() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.interrupted
}

// Request makes a call wait for approval.
func (r *Runtime) Request(p Approval) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, is := r.pending[p.ID]; is {
		return ErrPending
	}
	if r.current() != Waiting {
		if err := r.to(Waiting, p.Requested); err != nil {
			return err
		}
	}
	if r.pending == nil {
		r.pending = map[string]Approval{}
	}
	p.Call = slices.Clone(p.Call)
	r.pending[p.ID] = p
	return nil
}

// Resolve removes a pending approval, whether approved or rejected, and
// returns it. After the last one the agent goes on in the state before.
func (r *Runtime) Resolve(id string) (Approval, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, is := r.pending[id]
	if !is {
		return Approval{}, ErrNotPending
	}
	delete(r.pending, id)
	if len(r.pending) == 0 && r.state == Waiting {
		return p, r.to(r.before, p.Requested)
	}
	return p, nil
}

// Pending returns the calls that wait, in the order of their ids.
func (r *Runtime) Pending() []Approval {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Approval
	for _, id := range slices.Sorted(maps.Keys(r.pending)) {
		p := r.pending[id]
		p.Call = slices.Clone(p.Call)
		list = append(list, p)
	}
	return list
}

// reset makes r as new.
func (r *Runtime) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.before, r.turn, r.turns = "", "", nil, nil
	r.tools, r.errors, r.interrupted, r.pending = nil, nil, false, nil
}
