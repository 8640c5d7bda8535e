package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/slice"
)

// A Run runs a call, as the session has it, and returns its result: a row of
// [sessionstore.ToolResult], or as a provider's bridge makes it, with pictures. An error
// is a result, too: the model reads its text.
type Run func(ctx context.Context, call sessionstore.ToolCall) (result sessionstore.Message, err error)

// Calls returns the calls of the last step that have no result, in their order.
func (t *Turn) Calls(ctx context.Context) ([]sessionstore.ToolCall, error) {
	s, err := t.last(ctx)
	return s.calls, core.Wrap("read the calls of", t.id, err)
}

// Call asks the user about a call of [Turn.Calls], which its ID names, runs it once it is
// approved, and returns its result, which is stored then. A call that was approved runs at
// most once, also after a restart. A call that was rejected, whose run failed, or that an
// earlier process started without storing a result, gets a result that says so, and Call
// returns no error.
//
// The error Is [ErrNoCall] when there is no such call, or another goroutine has it;
// [agentstate.ErrNotApproved] when Approve decided nothing; and the error of Approve: the
// call stays open then. When ctx ends while the call runs, what run returned is stored, and
// the error is ctx's.
func (t *Turn) Call(ctx context.Context, call sessionstore.ToolCall, run Run) (sessionstore.Message, error) {
	row, err := t.call(ctx, call.ID, run)
	return row, core.Wrap("call a tool in", t.id, err)
}

func (t *Turn) call(ctx context.Context, id string, run Run) (row sessionstore.Message, err error) {
	s, err := t.last(ctx)
	if err != nil {
		return row, err
	}
	i := slices.IndexFunc(s.calls, func(c sessionstore.ToolCall) bool { return c.ID == id })
	if i < 0 {
		return row, ErrNoCall
	}
	state, err := agentstate.Open(t.st, t.id, nil)
	if err != nil {
		return row, err
	}
	defer state.Close()
	a, err := t.keep(ctx, state, s, s.calls[i])
	if err != nil {
		return row, err
	}
	defer t.free(a)
	verdict, err := t.claim(ctx, state, a)
	if err != nil {
		return row, err
	}
	if row, err = t.outcome(ctx, verdict, a.call, run); err == nil {
		err = t.draft.beside(func() error { return t.st.Append(context.WithoutCancel(ctx), t.id, row) })
	}
	return row, errors.Join(err, ctx.Err())
}

// approval is the approval of a call in package agentstate.
type approval struct {
	call    sessionstore.ToolCall
	id      string
	value   []byte // what was approved: the arguments
	verdict agentstate.Verdict
	busy    bool // a goroutine has it
}

// keep returns the approval of a call. A call of a row that was stored since Begin or Resume gets
// a new one, and a call of an older row the last that has its name.
func (t *Turn) keep(ctx context.Context, state *agentstate.State, s step, call sessionstore.ToolCall) (*approval, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := t.name(s, call)
	if a := t.calls[name]; a != nil && a.busy {
		return nil, limits.Errorf(ErrNoCall, "another goroutine has the call")
	}
	list, err := state.Approvals(ctx)
	if err != nil {
		return nil, err
	}
	count, last := lastOf(list, name)
	a := t.calls[name]
	switch {
	case a != nil: // another call of Call kept it
	case s.n <= t.found && count > 0:
		a = &approval{call: call, id: counted(name, count), value: valueOf(call), verdict: last}
	default:
		a = &approval{call: call, id: counted(name, count+1), value: valueOf(call), verdict: agentstate.Undecided}
		err = state.KeepPending(ctx, a.id, a.value)
	}
	if err == nil {
		a.busy, t.calls[name] = true, a
	}
	return a, err
}

// lastOf returns how many approvals have a name, and the verdict of the last.
func lastOf(list []agentstate.Approval, name string) (count int, last agentstate.Verdict) {
	for {
		at := slices.IndexFunc(list, func(k agentstate.Approval) bool { return k.ID == counted(name, count+1) })
		if at < 0 {
			return count, last
		}
		count, last = count+1, list[at].Verdict
	}
}

// free lets another goroutine have the call.
func (t *Turn) free(a *approval) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.busy = false
}

// name returns the id of the approval of a call without its count. A model may use the ids
// of calls again, and other rows may have the number of a row that was rewound.
func (t *Turn) name(s step, call sessionstore.ToolCall) string {
	sum := sha256.Sum256(s.row.AppendTo(append(t.row.AppendTo(nil), '\n')))
	return fmt.Sprintf("%d.%s.%s", s.n, hex.EncodeToString(sum[:8]), call.ID)
}

// counted returns the id of the approval of that count. The count tells apart calls of
// equal rows at one place, of which all but the last were rewound.
func counted(name string, count int) string { return fmt.Sprintf("%s.%d", name, count) }

// valueOf returns the arguments of a call, as a string where they are no JSON.
func valueOf(call sessionstore.ToolCall) []byte {
	if len(call.Arguments) > 0 && pyjson.Check(call.Arguments, pyjson.Tolerant) != nil {
		return pyjson.Quote(string(call.Arguments))
	}
	return call.Arguments
}

// claim asks about a call that is undecided and claims it. It returns
// [agentstate.Approved] when the call is to run now, and else why it does not run.
func (t *Turn) claim(ctx context.Context, state *agentstate.State, a *approval) (agentstate.Verdict, error) {
	if a.verdict == agentstate.Undecided {
		v, err := agentstate.Approved, error(nil)
		if t.opts.Approve != nil {
			v, err = t.opts.Approve(ctx, a.call)
		}
		if err == nil && v == agentstate.Undecided {
			err = agentstate.ErrNotApproved
		}
		if err == nil {
			err = state.Decide(ctx, a.id, v)
		}
		if err != nil {
			return "", err
		}
	}
	err := state.Claim(ctx, a.id, a.value)
	switch {
	case errors.Is(err, agentstate.ErrRejected):
		return agentstate.Rejected, nil
	case errors.Is(err, agentstate.ErrRan):
		return agentstate.Ran, nil
	}
	return agentstate.Approved, err
}

// outcome runs a call that was claimed just now, and returns its result, or that of a call
// that does not run.
func (t *Turn) outcome(ctx context.Context, v agentstate.Verdict, call sessionstore.ToolCall, run Run) (sessionstore.Message, error) {
	text := ""
	switch v {
	case agentstate.Ran:
		text = unknownResult
	case agentstate.Rejected:
		text = rejectedResult
	default:
		row, err := run(ctx, call)
		if err == nil && !answers(row, call) {
			err = errors.New("the tool returned a row that is not the result of the call")
		}
		if err == nil {
			return row, nil
		}
		text = "Error: " + err.Error()
	}
	return sessionstore.ToolResult(call.ID, call.Name, text, t.core.Now())
}

// answers reports whether a row is the result of a call.
func answers(row sessionstore.Message, call sessionstore.ToolCall) bool {
	asked, err := sessionstore.ToolCallMessage("", time.Time{}, sessionstore.ToolCall{ID: call.ID, Name: "tool"})
	return err == nil && row.Role() != "assistant" && len(slice.OrphanedToolCalls([]sessionstore.Message{asked, row})) == 0
}

// The results of calls that do not run.
const (
	rejectedResult = `{"error": "rejected", "message": "The user rejected this tool call. It did not run."}`
	unknownResult  = `{"error": "outcome_unknown", "message": "This tool call was started, and the program ended before its result was stored. Its outcome is unknown. It was not repeated."}`
)

// goOn takes up a turn that Resume found: it reads the draft, and gives a result to each
// call that was claimed and has none.
func (t *Turn) goOn(ctx context.Context) error {
	s, err := t.last(ctx)
	if err != nil {
		return err
	}
	d, err := ReadDraft(ctx, t.st, t.id)
	if err != nil {
		return err
	}
	if d.Prompt == 0 {
		t.draft.remove() // of another state
	}
	if d.Prompt == 0 && s.answered {
		return ErrNoTurn
	}
	t.found = s.end
	t.draft.takeUp(d)
	if len(s.calls) == 0 {
		return nil
	}
	state, err := agentstate.Open(t.st, t.id, nil)
	if err != nil {
		return err
	}
	defer state.Close()
	list, err := state.Approvals(ctx)
	if err != nil {
		return err
	}
	for _, c := range s.calls {
		if _, last := lastOf(list, t.name(s, c)); last != agentstate.Ran {
			continue
		}
		if _, err := t.call(ctx, c.ID, nil); err != nil {
			return err
		}
	}
	return nil
}
