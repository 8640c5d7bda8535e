package turn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/slice"
)

// The errors that callers branch on, with [errors.Is].
var (
	ErrNoTurn = errors.New("each turn of the session has ended")
	ErrGone   = errors.New("the prompt of the turn was taken out of the session")
	ErrNoCall = errors.New("the turn has no such call without a result")
)

// Options are the settings of a [Turn].
type Options struct {
	// Approve asks the user about a call. It returns [agentstate.Approved] or
	// [agentstate.Rejected]. With [agentstate.Undecided], and with an error, the call stays
	// open. A nil Approve approves each call.
	Approve func(ctx context.Context, call sessionstore.ToolCall) (agentstate.Verdict, error)

	Owner sessionstore.Owner // what others see while the turn runs
	Busy  Busy
}

// Busy is what [Begin] and [Resume] do while another program, or another turn, has the session.
type Busy int

// The ways.
const (
	Refuse Busy = iota // return an error that Is [sessionstore.ErrLocked], and names the owner where it is known
	Wait               // wait until ctx ends
)

// A Turn is a prompt of a session and what answers it. Its methods may be called by many
// goroutines, until [Turn.End] or [Turn.Close].
type Turn struct {
	st     *sessionstore.Store
	core   core.Store
	id     string
	opts   Options
	hold   *sessionstore.Hold
	lock   *lock.Lock
	prompt int // the number of row among the messages of the session
	row    sessionstore.Message
	found  int // the number of messages that Resume found; 0 after Begin

	mu    sync.Mutex        // guards the fields below
	state *agentstate.State // nil before the first call; it has nothing to close
	calls map[string]bool   // the names of the calls that this turn asked about; true: one is under way
	token string            // begins the ids of new approvals; "" before the first one

	draft draft
}

// Begin stores the prompt, a row of the role user that [slice.IsRealUser] takes for a person's,
// and returns the turn that answers it. The prompt is stored as [sessionstore.Store.Append]
// says when Begin returns; after an error it may be. The session is made when there is none. The draft of
// an interrupted turn goes: [Resume] that one first, Say its Draft and End it. opts may be nil.
func Begin(ctx context.Context, st *sessionstore.Store, id string, prompt sessionstore.Message, opts *Options) (*Turn, error) {
	return open(ctx, "begin a turn of", st, id, opts, func(t *Turn) error {
		if !slice.IsRealUser(prompt) || slice.CountTurns([]sessionstore.Message{prompt}) == 0 { // else Resume does not find it
			return fmt.Errorf("%w: the prompt is not a message of the role user, has the result of a tool, or begins with <system-reminder>", sessionstore.ErrUnstorable)
		}
		numbers, err := st.AppendStored(ctx, id, prompt)
		if err != nil {
			return err
		}
		t.prompt, t.row = numbers[0], t.core.Stored(prompt)
		t.draft.remove() // of a turn before
		return nil
	})
}

// Resume returns the turn that did not end: that of the last prompt of a person, unless an
// answer without calls is the last row and there is no draft. [Turn.Calls] are its calls
// without a result, and [Turn.Draft] is what an answer had said.
//
// Resume stores a result for each call that was claimed and has none: it was started, and its
// outcome is not known. The error Is [ErrNoTurn] when there is no such turn. opts may be nil.
func Resume(ctx context.Context, st *sessionstore.Store, id string, opts *Options) (*Turn, error) {
	return open(ctx, "resume a turn of", st, id, opts, func(t *Turn) error {
		err := t.find(ctx)
		switch {
		case err == nil:
			err = t.goOn(ctx)
		case errors.Is(err, ErrGone):
			err = ErrNoTurn
		}
		return err
	})
}

// open returns a turn that owns its session, once start has found its prompt.
func open(ctx context.Context, op string, st *sessionstore.Store, id string, opts *Options, start func(*Turn) error) (*Turn, error) {
	t := &Turn{st: st, core: core.Of(st), id: id, calls: map[string]bool{}}
	if opts != nil {
		t.opts = *opts
	}
	t.draft.of, t.draft.ctx = t, context.WithoutCancel(ctx)
	err := t.own(ctx)
	for t.opts.Busy == Wait && errors.Is(err, sessionstore.ErrLocked) && lock.Sleep(ctx, pause) {
		err = t.own(ctx)
	}
	if err != nil {
		return nil, core.Wrap(op, id, errors.Join(err, ctx.Err()))
	}
	if err := start(t); err != nil {
		return nil, core.Wrap(op, id, errors.Join(err, t.Close()))
	}
	return t, nil
}

const pause = 50 * time.Millisecond // between two tries of Wait

// own takes the session from other programs, where that is to be had, and from other turns.
func (t *Turn) own(ctx context.Context) (err error) {
	t.hold, err = t.st.Acquire(ctx, t.id, t.opts.Owner)
	if errors.Is(err, errors.ErrUnsupported) {
		t.hold, err = &sessionstore.Hold{}, nil
	}
	if err != nil {
		return err
	}
	dir, err := t.core.Bookkeeping(sessiondir.Turns)
	if err == nil {
		t.lock, err = lock.Options{Alone: true}.Try(dir.Root(), sessiondir.TurnLock(t.id))
		_ = dir.Close() // only read
	}
	if errors.Is(err, lock.ErrBusy) {
		err = limits.Errorf(sessionstore.ErrLocked, "another turn of the session runs")
	}
	if err != nil {
		return errors.Join(err, t.hold.Release())
	}
	return nil
}

// find finds the last prompt of a person. The error Is [ErrGone] when there is none.
func (t *Turn) find(ctx context.Context) error {
	return t.view(ctx, func(v *sessionstore.View) error {
		for turn := v.Turns(); turn > 0; turn-- {
			n, err := v.Start(ctx, turn)
			if err != nil {
				return err
			}
			rows, err := v.Range(ctx, n, 1)
			if err != nil {
				return err
			}
			if len(rows) == 1 && slice.IsRealUser(rows[0]) {
				t.prompt, t.row = n, rows[0].Clone()
				return nil
			}
		}
		return ErrGone
	})
}

// view calls do with a view of the session.
func (t *Turn) view(ctx context.Context, do func(*sessionstore.View) error) error {
	v, err := t.st.View(ctx, t.id)
	if v == nil {
		return err
	}
	if err == nil {
		err = do(v)
	}
	return errors.Join(err, v.Close())
}

// Prompt returns the prompt as it is stored.
func (t *Turn) Prompt() sessionstore.Message { return t.row }

// Step stores a row of the model, of the role assistant: its text, thinking and calls, as a
// provider's bridge or [sessionstore.ToolCallMessage] makes it. What was said since the last
// step is part of the row: End does not store it again. After an error the row may be
// stored; Step with the same row again stores it once. The error Is [ErrGone], and nothing
// is stored, where another program took the prompt away.
func (t *Turn) Step(ctx context.Context, row sessionstore.Message) error {
	err := fmt.Errorf("%w: the role of a step is assistant", sessionstore.ErrUnstorable)
	if row.Role() == "assistant" {
		err = t.draft.store(ctx, row)
	}
	return core.Wrap("store a step of a turn of", t.id, err)
}

// End stores what was said since the last step as the answer, if anything was, and closes the
// turn. Thinking is its member thinking_text. The draft goes after the answer is stored.
// After an error, which is as of Step, End may be called again, and stores the answer once.
// While a call is under way it stores nothing and returns an error.
func (t *Turn) End(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := errors.New("a call of the turn is under way")
	if !slices.Contains(slices.Collect(maps.Values(t.calls)), true) {
		err = t.draft.store(ctx, sessionstore.Message{})
	}
	if err != nil && !errors.Is(err, errEnded) {
		return core.Wrap("end a turn of", t.id, err)
	}
	return t.Close()
}

var errEnded = limits.Errorf(sessionstore.ErrClosed, "the turn has ended")

// Close gives the session to others and stores no row: [Resume] goes on with a turn that was
// closed without End, and the draft has what was said. An error may be of the draft alone.
// The result of a call that is under way is not stored any more. Further calls do nothing.
func (t *Turn) Close() error {
	first, err := t.draft.end()
	if !first {
		return nil
	}
	return core.Wrap("close a turn of", t.id, errors.Join(err, t.lock.Unlock(), t.hold.Release()))
}

// step is the last row of the model in a turn.
type step struct {
	n    int                    // the number of the row; 0: the model has said nothing yet
	rows []sessionstore.Message // the row, and those after it
	end  int                    // the number of messages of the session
}

// row returns the row, the zero Message when there is none.
func (s step) row() (row sessionstore.Message) {
	if s.n > 0 {
		row = s.rows[0]
	}
	return row
}

// calls returns the calls of the row that have no result. Calls of one id are one call: a row
// may have it in two forms.
func (s step) calls() []sessionstore.ToolCall {
	waiting := map[string]bool{}
	for _, id := range slice.OrphanedToolCalls(s.rows) {
		waiting[id] = id != ""
	}
	return slices.DeleteFunc(s.row().ToolCalls(), func(c sessionstore.ToolCall) bool {
		waits := waiting[c.ID]
		waiting[c.ID] = false
		return !waits
	})
}

// last returns the last step. The error Is [ErrGone] when the prompt is not in its place.
func (t *Turn) last(ctx context.Context) (s step, err error) {
	err = t.view(ctx, func(v *sessionstore.View) error {
		rows, err := v.Range(ctx, t.prompt, 1)
		if err == nil && (len(rows) == 0 || !bytes.Equal(core.Row(rows[0]), core.Row(t.row))) {
			err = ErrGone
		}
		s.end = v.Len()
		for first, few := s.end+1, 8; err == nil && s.n == 0 && first > t.prompt; few *= 2 {
			first = max(t.prompt, s.end-few)
			rows, err = v.Range(ctx, first, s.end-first+1)
			for i := len(rows) - 1; i >= 0 && s.n == 0; i-- {
				if rows[i].Role() == "assistant" {
					s.n, s.rows = first+i, rows[i:]
				}
			}
		}
		return err
	})
	return s, err
}
