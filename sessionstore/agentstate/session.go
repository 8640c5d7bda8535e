package agentstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Session joins the state that an agent keeps and the state that it forgets. Resuming is
// a new Session over the stored state: its Runtime is fresh.
type Session struct {
	State   *State
	Runtime *Runtime
}

// NewSession returns a session over a stored state. [Session.Close] closes it.
func NewSession(s *State) *Session { return &Session{s, &Runtime{}} }

// AddItems appends items to the history.
func (s *Session) AddItems(ctx context.Context, items ...json.RawMessage) error {
	return s.State.RecordItems(ctx, items...)
}

// StartTurn begins a turn. While there is one, also a suspended one, the error
// Is [ErrTransition].
func (s *Session) StartTurn() error {
	if s.Runtime.State() == Waiting {
		return wrap("start turn", ErrTransition)
	}
	return wrap("start turn", s.Runtime.To(Processing, s.State.now()))
}

// EndTurn ends the current turn.
func (s *Session) EndTurn() error {
	return wrap("end turn", s.Runtime.To(Idle, s.State.now()))
}

// AddTokenUsage adds tokens to the stored total and to the current turn.
func (s *Session) AddTokenUsage(ctx context.Context, tokens int64) error {
	if err := s.State.AddTokenUsage(ctx, tokens); err != nil {
		return err
	}
	s.Runtime.AddTokens(tokens)
	return nil
}

// RequestApproval makes a call wait for the user under an id.
func (s *Session) RequestApproval(id string, call json.RawMessage) error {
	return wrap("request approval", s.Runtime.Request(Pending{id, call, s.State.now()}))
}

// Resolve takes the user's verdict, [Approved] or [Rejected], and removes the pending
// approval. An approval that was kept ([State.KeepPending]) is decided as
// [State.Decide] says, also after a restart, when no call waits in this Runtime; then
// Requested is zero in the result. An error other than one of the disk means that
// nothing was stored. When the stored approval refuses the verdict, because another
// process decided or ran the call, the call waits here no longer.
func (s *Session) Resolve(ctx context.Context, id string, v Verdict) (Pending, error) {
	if v != Approved && v != Rejected {
		return Pending{}, fmt.Errorf("resolve approval: %w: verdict is neither approved nor rejected", ErrInvalid)
	}
	list, err := s.State.Kept(ctx)
	if err != nil {
		return Pending{}, err
	}
	kept := find(list, id)
	if kept == nil {
		p, err := s.Runtime.Resolve(id)
		return p, wrap("resolve approval", err)
	}
	err = s.State.Decide(ctx, id, v)
	if err != nil && !errors.Is(err, ErrNotPending) && !errors.Is(err, ErrRan) {
		return Pending{}, err
	}
	p, gone := s.Runtime.Resolve(id)
	switch {
	case err != nil:
		return Pending{}, err
	case gone != nil:
		return Pending{ID: id, Call: kept.Call}, nil
	}
	return p, nil
}

// Interrupt asks the agent to stop, and ends the current turn.
func (s *Session) Interrupt() { s.Runtime.Interrupt(s.State.now()) }

// Close ends the current turn, forgets the runtime and closes the state.
func (s *Session) Close() error {
	s.Runtime.reset()
	return s.State.Close()
}

// Export is [State.Export]; nothing of the runtime is in it.
func (s *Session) Export(ctx context.Context) (json.RawMessage, error) { return s.State.Export(ctx) }
