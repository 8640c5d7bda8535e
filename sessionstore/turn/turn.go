package turn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	ErrNoTurn = errors.New("there is no turn that did not end")
	ErrGone   = errors.New("the prompt of the turn is not in the session any more: it was rewound")
	ErrNoCall = errors.New("the turn has no such call without a result")
)

// Options are the settings of a [Turn]. The zero Options are ready to use.
type Options struct {
	// Approve asks the user about a call and returns [agentstate.Approved] or
	// [agentstate.Rejected]. With [agentstate.Undecided] and with an error the call stays
	// open. nil approves each call.
	Approve func(ctx context.Context, call sessionstore.ToolCall) (agentstate.Verdict, error)

	Owner sessionstore.Owner // that other programs see while the turn runs
	Busy  Busy               // what to do while another turn of the session runs
}

// Busy is what [Begin] and [Resume] do while another program runs the session.
type Busy int

// The ways.
const (
	Refuse Busy = iota // return an error that Is [sessionstore.ErrLocked] and names the owner, where it is known
	Wait               // wait until ctx ends
)

// A Turn is one prompt of a session and what answers it. Its methods may be called by many
// goroutines. Call [Turn.End] or [Turn.Close].
type Turn struct {
	st     *sessionstore.Store
	core   core.Store
	id     string
	opts   Options
	hold   *sessionstore.Hold
	lock   *lock.Lock
	prompt int // the number of the prompt among the messages of the session
	row    sessionstore.Message

	found int // the number of messages that Resume found; 0 after Begin

	draft draft

	mu    sync.Mutex           // guards calls
	calls map[string]*approval // by the id without its count
}

// Begin stores the prompt, a row of the role user, and returns the turn that answers it. The
// prompt is stored when Begin returns, and the session is made when there is none. opts may
// be nil. The errors are those of [sessionstore.Store.Acquire] and
// [sessionstore.Store.Append].
func Begin(ctx context.Context, st *sessionstore.Store, id string, prompt sessionstore.Message, opts *Options) (*Turn, error) {
	if slice.CountTurns([]sessionstore.Message{prompt}) == 0 {
		return nil, core.Wrap("begin a turn of", id, fmt.Errorf("%w: the prompt begins no turn: its role is not user, or it is the result of a tool", sessionstore.ErrUnstorable))
	}
	t, err := open(ctx, st, id, opts)
	if err != nil {
		return nil, core.Wrap("begin a turn of", id, err)
	}
	if err = st.Append(ctx, id, prompt); err == nil {
		err = t.find(ctx, func(m sessionstore.Message) bool { return m.Role() == "user" && m.Content() == prompt.Content() })
	}
	if err != nil {
		return nil, core.Wrap("begin a turn of", id, errors.Join(err, t.Close()))
	}
	t.draft.remove() // of a turn before
	return t, nil
}

// Resume returns the turn that did not end: the last prompt of a person, when no answer
// without calls follows it, or when there is a draft. [Turn.Calls] are its calls
// without a result, and [Turn.Draft] is what the draft says. To keep that as a part of the
// answer, Say it again: the first piece that is said replaces the draft.
//
// Resume stores a result for each call that was claimed and has none: the call was started,
// and its outcome is not known. The error Is [ErrNoTurn] when no turn is open. opts may be
// nil.
func Resume(ctx context.Context, st *sessionstore.Store, id string, opts *Options) (*Turn, error) {
	t, err := open(ctx, st, id, opts)
	if err != nil {
		return nil, core.Wrap("resume a turn of", id, err)
	}
	if err = t.find(ctx, slice.IsRealUser); errors.Is(err, ErrGone) {
		err = ErrNoTurn
	}
	if err == nil {
		err = t.goOn(ctx)
	}
	if err != nil {
		return nil, core.Wrap("resume a turn of", id, errors.Join(err, t.Close()))
	}
	return t, nil
}

// open returns a turn that owns its session.
func open(ctx context.Context, st *sessionstore.Store, id string, opts *Options) (*Turn, error) {
	t := &Turn{st: st, core: core.Of(st), id: id, calls: map[string]*approval{}}
	if opts != nil {
		t.opts = *opts
	}
	t.draft.of, t.draft.ctx = t, context.WithoutCancel(ctx)
	for {
		err := t.own(ctx)
		if err == nil || t.opts.Busy != Wait || !errors.Is(err, sessionstore.ErrLocked) {
			return t, err
		}
		if !lock.Sleep(ctx, pause) {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// pause is the pause of a Begin that waits.
const pause = 50 * time.Millisecond

// own takes the session, from other programs and from other turns.
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
		_ = dir.Close() // the lock has a file of its own
	}
	if errors.Is(err, lock.ErrBusy) {
		err = limits.Errorf(sessionstore.ErrLocked, "another turn of the session runs")
	}
	if err != nil {
		return errors.Join(err, t.hold.Release())
	}
	return nil
}

// Prompt returns the prompt as it is stored.
func (t *Turn) Prompt() sessionstore.Message { return t.row }

// find notes the last row that begins a turn and is the prompt. The error Is [ErrGone] when
// there is none.
func (t *Turn) find(ctx context.Context, is func(sessionstore.Message) bool) error {
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
			if len(rows) == 1 && is(rows[0]) {
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
	if err != nil {
		if v != nil {
			err = errors.Join(err, v.Close())
		}
		return err
	}
	return errors.Join(do(v), v.Close())
}

// Step stores a row of the model, of the role assistant: its text, thinking and calls, as a
// provider's bridge or [sessionstore.ToolCallMessage] makes it. What was said since the last
// row is part of this row, and End does not store it again. After an error the row is
// stored or not, as after [sessionstore.Store.Append]. The error Is [ErrGone] where another
// program took the prompt away: nothing is stored then.
func (t *Turn) Step(ctx context.Context, row sessionstore.Message) error {
	if row.Role() != "assistant" {
		return core.Wrap("step a turn of", t.id, fmt.Errorf("%w: the role of a step is assistant", sessionstore.ErrUnstorable))
	}
	return core.Wrap("step a turn of", t.id, t.draft.store(ctx, row))
}

// End stores what was said since the last Step as the answer, if anything was, and ends the
// turn. Its thinking is the member thinking_text. The draft goes after the answer is
// stored. After an error, as of Step, the turn goes on and End may be called again. A
// second End does what [Turn.Close] does.
func (t *Turn) End(ctx context.Context) error {
	err := t.draft.store(ctx, sessionstore.Message{})
	if err != nil && !errors.Is(err, errEnded) {
		return core.Wrap("end a turn of", t.id, err)
	}
	return t.Close()
}

var errEnded = limits.Errorf(sessionstore.ErrClosed, "the turn has ended")

// Close ends the use of the turn, and gives its session to others. It stores no row: the
// draft has what was said, and [Resume] goes on with a turn that was closed without End.
// Further calls do nothing. The error may be of the draft alone.
func (t *Turn) Close() error {
	first, err := t.draft.end()
	if !first {
		return nil
	}
	return core.Wrap("close a turn of", t.id, errors.Join(err, t.lock.Unlock(), t.hold.Release()))
}

// step is the last row of the model in a turn, with the calls that have no result.
type step struct {
	n        int // the number of the row; 0: the model has said nothing yet
	row      sessionstore.Message
	calls    []sessionstore.ToolCall
	answered bool // it makes no calls and nothing follows it
	end      int  // the number of messages of the session
}

// last returns the last step of the turn. The error Is [ErrGone] when the prompt is not in its place.
func (t *Turn) last(ctx context.Context) (s step, err error) {
	err = t.view(ctx, func(v *sessionstore.View) error {
		rows, err := v.Range(ctx, t.prompt, 1)
		if err != nil {
			return err
		}
		if len(rows) == 0 || !bytes.Equal(rows[0].AppendTo(nil), t.row.AppendTo(nil)) {
			return ErrGone
		}
		s.end = v.Len()
		for first, few := s.end+1, 8; first > t.prompt; few *= 2 {
			first = max(t.prompt, s.end-few)
			if rows, err = v.Range(ctx, first, s.end-first+1); err != nil {
				return err
			}
			for i, m := range slices.Backward(rows) {
				if m.Role() == "assistant" {
					s.n, s.row, s.calls = first+i, m, unanswered(rows[i:])
					s.answered = s.n == s.end && len(m.ToolCalls()) == 0
					return nil
				}
			}
		}
		return nil
	})
	return s, err
}

// unanswered returns the calls of the first of rows that have no result. Two calls of one
// id are one call in both forms.
func unanswered(rows []sessionstore.Message) (calls []sessionstore.ToolCall) {
	waiting := slice.OrphanedToolCalls(rows)
	for _, c := range rows[0].ToolCalls() {
		if i := slices.Index(waiting, c.ID); i >= 0 && c.ID != "" {
			waiting = slices.Delete(waiting, i, i+1)
			calls = append(calls, c)
		}
	}
	return calls
}
