package turn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/slice"
)

// A Run runs a call, as the session has it, and returns its result: a row of
// [sessionstore.ToolResult], or as a provider's bridge makes it, with pictures. An error is
// a result, too: the model reads its text. A nil Run is that of a tool that does not exist.
type Run func(ctx context.Context, call sessionstore.ToolCall) (result sessionstore.Message, err error)

// Calls returns the calls of the last step that have no result, in their order.
func (t *Turn) Calls(ctx context.Context) ([]sessionstore.ToolCall, error) {
	s, err := t.last(ctx)
	return s.calls(), core.Wrap("read the calls of", t.id, err)
}

// Call asks the user about the call of [Turn.Calls] with the id of call, runs it once it is
// approved, and returns its result, which is stored then. A call that was approved runs at
// most once, also after a restart. A call that was rejected, whose run failed, or that an
// earlier process started without storing a result, gets a result that says so, and Call
// returns no error.
//
// The error Is [ErrNoCall] when there is no such call, or another goroutine has it;
// [agentstate.ErrNotApproved] when Approve decided nothing; and that of Approve. The call
// stays open then. When ctx ends while the call runs, what run returned is stored, and the
// error is that of ctx. When another program takes the call away while it runs, or gives it a
// result, what run returned is not stored, and the error Is [ErrGone] or ErrNoCall.
func (t *Turn) Call(ctx context.Context, call sessionstore.ToolCall, run Run) (sessionstore.Message, error) {
	row, err := t.call(ctx, call.ID, run)
	return row, core.Wrap("call a tool in", t.id, err)
}

func (t *Turn) call(ctx context.Context, id string, run Run) (row sessionstore.Message, err error) {
	s, call, err := t.open(ctx, id)
	if err != nil {
		return row, err
	}
	name := t.name(s, id)
	kept, err := t.keep(ctx, s, name)
	if err != nil {
		return row, err
	}
	defer t.free(name)
	verdict, err := t.claim(ctx, kept, call)
	if err != nil {
		return row, err
	}
	if row, err = t.outcome(ctx, verdict, s, call, run); err == nil {
		err = t.draft.beside(row, func() error {
			ctx := context.WithoutCancel(ctx)
			now, _, err := t.open(ctx, id)
			if err == nil && t.name(now, id) != name {
				err = ErrNoCall
			}
			if err == nil {
				err = t.st.Append(ctx, t.id, row)
			}
			return err
		})
	}
	return row, errors.Join(err, ctx.Err())
}

// open returns the last step, and its call without a result that has an id.
func (t *Turn) open(ctx context.Context, id string) (s step, call sessionstore.ToolCall, err error) {
	s, err = t.last(ctx)
	calls := s.calls()
	if i := slices.IndexFunc(calls, func(c sessionstore.ToolCall) bool { return c.ID == id }); i >= 0 {
		return s, calls[i], err
	}
	return s, call, cmp.Or(err, ErrNoCall)
}

// name returns the end of the id of the approval of a call. A model may use the ids of calls
// again, and other rows may have the number of a row that was rewound.
func (t *Turn) name(s step, id string) string {
	sum := sha256.Sum256(slices.Concat(core.Row(t.row), []byte("\n"), core.Row(s.row())))
	return fmt.Sprintf("%d.%x.%s", s.n, sum[:8], id)
}

// lastOf returns the last approval of that name, the zero Approval when there is none. Earlier
// ones are of equal rows that were rewound.
func lastOf(list []agentstate.Approval, name string) agentstate.Approval {
	for _, a := range slices.Backward(list) {
		if _, of, _ := strings.Cut(a.ID, "."); of == name {
			return a
		}
	}
	return agentstate.Approval{}
}

// keep takes a call from other goroutines, and returns its approval: a new one, which is not
// stored, at the first time, but for a row that Resume found.
func (t *Turn) keep(ctx context.Context, s step, name string) (a agentstate.Approval, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	busy, kept := t.calls[name]
	switch {
	case busy:
		return a, limits.Errorf(ErrNoCall, "another goroutine has the call")
	case t.draft.ended.Load():
		return a, errEnded
	}
	if t.state == nil {
		t.token = sessionstore.NewID()[:8]
		if t.state, err = agentstate.Open(t.st, t.id, nil); err != nil {
			return a, err
		}
	}
	if kept || s.n <= t.found {
		list, err := t.state.Approvals(ctx)
		if err != nil {
			return a, err
		}
		a = lastOf(list, name)
	}
	if id := t.token + "." + name; a.ID == "" || s.n > t.found && a.ID != id { // the last one is of a row that was rewound
		a = agentstate.Approval{ID: id}
	}
	t.calls[name] = true
	return a, nil
}

// valueOf returns the arguments of a call, as a string where they are no JSON.
func valueOf(call sessionstore.ToolCall) []byte {
	if pyjson.Check(call.Arguments, pyjson.Tolerant) != nil {
		return pyjson.Quote(string(call.Arguments))
	}
	return call.Arguments
}

// free lets another goroutine have the call.
func (t *Turn) free(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[name] = false
}

// claim asks about a call that is undecided, and claims it. It returns [agentstate.Approved]
// when the call is to run now, and else why it does not run. A call that the user is asked about
// is stored before, so that other programs see it.
func (t *Turn) claim(ctx context.Context, a agentstate.Approval, call sessionstore.ToolCall) (agentstate.Verdict, error) {
	v, err := agentstate.Approved, error(nil)
	isNew := a.Verdict == ""
	undecided := isNew || a.Verdict == agentstate.Undecided
	if undecided && t.opts.Approve != nil {
		if isNew {
			err = t.state.KeepPending(ctx, a.ID, valueOf(call))
		}
		if err == nil {
			v, err = t.opts.Approve(ctx, call)
		}
	}
	switch {
	case err != nil:
	case v == agentstate.Undecided:
		err = agentstate.ErrNotApproved
	case undecided:
		err = t.state.ClaimDecided(ctx, a.ID, valueOf(call), v)
	default:
		err = t.state.Claim(ctx, a.ID, valueOf(call))
	}
	switch {
	case errors.Is(err, agentstate.ErrRejected):
		return agentstate.Rejected, nil
	case errors.Is(err, agentstate.ErrRan):
		return agentstate.Ran, nil
	}
	return agentstate.Approved, err
}

// The results of calls that do not run.
const (
	rejectedResult = `{"error": "rejected", "message": "The user rejected this tool call. It did not run."}`
	unknownResult  = `{"error": "outcome_unknown", "message": "This tool call was started, and the program ended before its result was stored. Its outcome is unknown. It was not repeated."}`
)

// outcome runs a call that was claimed just now, and returns its result, or that of a call
// that does not run.
func (t *Turn) outcome(ctx context.Context, v agentstate.Verdict, s step, call sessionstore.ToolCall, run Run) (sessionstore.Message, error) {
	text := map[agentstate.Verdict]string{agentstate.Ran: unknownResult, agentstate.Rejected: rejectedResult}[v]
	if text == "" {
		row, err := sessionstore.Message{}, errNoTool
		if run != nil {
			row, err = run(ctx, call)
		}
		if err == nil && s.answered(row, call.ID) {
			return row, nil
		}
		text = "Error: " + cmp.Or(err, errNoResult).Error()
	}
	return sessionstore.ToolResult(call.ID, cmp.Or(call.Name, "unknown"), text, t.core.Now())
}

var (
	errNoResult = errors.New("the tool returned a row that is not the result of the call")
	errNoTool   = errors.New("there is no such tool")
)

// answered reports whether a row is the result of the call with an id, which has none.
func (s step) answered(row sessionstore.Message, id string) bool {
	return row.Role() != "assistant" && !slices.Contains(slice.OrphanedToolCalls(append(slices.Clip(s.rows), row)), id)
}

// goOn takes up a turn that Resume found. It reads the draft, and gives a result to each call
// that was claimed and has none.
func (t *Turn) goOn(ctx context.Context) error {
	s, err := t.last(ctx)
	if err != nil {
		return err
	}
	d, err := ReadDraft(ctx, t.st, t.id)
	if err != nil {
		return err
	}
	t.found = s.end
	if t.draft.takeUp(d); d.Prompt == 0 && s.n == s.end && len(s.row().ToolCalls()) == 0 {
		return ErrNoTurn
	}
	state, err := agentstate.Open(t.st, t.id, nil)
	if err != nil {
		return err
	}
	list, err := state.Approvals(ctx)
	for _, c := range s.calls() {
		if err == nil && lastOf(list, t.name(s, c.ID)).Verdict == agentstate.Ran {
			_, err = t.call(ctx, c.ID, nil)
		}
	}
	return err
}
