package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// Turn is the answer to one prompt: a [turn.Turn] that the client is shown as it comes. Its
// methods may be called by many goroutines.
type Turn struct {
	Store      *sessionstore.Store
	ID         string               // of the session
	Prompt     sessionstore.Message // as it is stored
	Cwd        string               // without symlinks
	McpServers []proto.McpServer    // that came with the session; none for a fork

	agent *Sessions
	ses   *session
	turn  *turn.Turn

	mu             sync.Mutex // guards the fields below
	text, thinking stream     // since the last Step
}

// stream is what was said, of which the client has the first bytes.
type stream struct {
	strings.Builder
	sent int
}

// Prompt stores a prompt and lets the author's agent answer it. Its context is not that of the
// request, which the SDK ends at the next prompt of the session.
func (a agent) Prompt(_ context.Context, r proto.PromptRequest) (answer proto.PromptResponse, err error) {
	s := a.sessions()
	s.mu.Lock()
	select {
	case s.begun <- struct{}{}: // a cancel that is read now waits for the mutex
	default:
	}
	ses := s.open[r.SessionId]
	if ses == nil {
		s.mu.Unlock()
		return answer, notOpen(r.SessionId)
	}
	ctx := ses.ctx
	ses.busy++
	ses.turns.Add(1)
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()
	defer ses.turns.Done()

	t, err := s.prepare(ctx, ses, r.Prompt)
	if err == nil {
		answer.StopReason, err = a.run(ctx, t)
	}
	s.mu.Lock()
	ses.busy--
	last := ses.busy == 0
	s.mu.Unlock()
	if last {
		if unsent := s.settle(ses); err == nil {
			err = unsent
		}
	}
	if errors.Is(err, context.Canceled) || ctx.Err() != nil {
		answer.StopReason, err = proto.StopReasonCancelled, nil
	}
	return answer, fail(err)
}

// prepare stores the prompt, after it has ended a turn that was interrupted: calls that were
// started get results, and what the draft says becomes the answer.
func (s *Sessions) prepare(ctx context.Context, ses *session, blocks []proto.ContentBlock) (*Turn, error) {
	row, err := prompt(blocks, time.Now())
	if err != nil {
		return nil, err
	}
	t := &Turn{Store: ses.st, ID: string(ses.id), Cwd: ses.cwd, McpServers: ses.servers, agent: s, ses: ses}
	o := &turn.Options{Approve: t.approve, Owner: sessionstore.Owner{App: s.name()}}
	if s.Wait {
		o.Busy = turn.Wait
	}
	old, err := turn.Resume(ctx, ses.st, t.ID, o)
	if err == nil {
		if d := old.Draft(); d.Text+d.Thinking != "" { // the client has been shown it
			ses.expect(saidKey(d.Text))
			err = errors.Join(old.Think(d.Thinking), old.Say(d.Text))
		}
		err = errors.Join(err, old.End(ctx), old.Close())
	}
	if err != nil && !errors.Is(err, turn.ErrNoTurn) {
		return nil, err
	}
	ses.expect(key(row))
	if t.turn, err = turn.Begin(ctx, ses.st, t.ID, row, o); err != nil {
		return nil, err
	}
	t.Prompt = t.turn.Prompt()
	if err := s.settle(ses); err != nil {
		return nil, errors.Join(err, t.turn.Close())
	}
	return t, nil
}

// run lets the author's agent answer, and stores what it said.
func (a agent) run(ctx context.Context, t *Turn) (reason proto.StopReason, err error) {
	err = t.agent.guard("Prompt", func() (err error) {
		reason, err = a.Agent.Prompt(ctx, t)
		return err
	})
	t.mu.Lock()
	if row, failed := sessionstore.Text("assistant", t.text.String(), time.Time{}); failed == nil && t.text.Len()+t.thinking.Len() > 0 {
		t.ses.expect(key(row))
	}
	t.mu.Unlock()
	stored := errors.Join(t.turn.End(context.WithoutCancel(ctx)), t.turn.Close())
	if stored != nil { // the client of a turn that it cancelled gets no error
		t.agent.Logger.Error("acp: the turn did not end", "session", t.ID, "err", stored)
	}
	return cmp.Or(reason, proto.StopReasonEndTurn), errors.Join(err, stored)
}

// Say sends a piece of the answer, and stores it as [turn.Turn.Say] does.
func (t *Turn) Say(piece string) error {
	return t.piece(piece, &t.text, t.turn.Say, proto.UpdateAgentMessageText)
}

// Think sends a piece of the thinking, and stores it as [turn.Turn.Think] does.
func (t *Turn) Think(piece string) error {
	return t.piece(piece, &t.thinking, t.turn.Think, proto.UpdateAgentThoughtText)
}

// piece stores a piece, and sends the whole characters that the client does not have. It sends
// nothing once the turn has ended.
func (t *Turn) piece(piece string, all *stream, store func(string) error, update func(string) proto.SessionUpdate) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := store(piece)
	if errors.Is(err, sessionstore.ErrClosed) {
		return err
	}
	all.WriteString(piece)
	next := whole(all.String())[all.sent:]
	all.sent += len(next)
	return errors.Join(err, t.agent.send(t.ses, said(nil, update, next)))
}

// Step stores a row of the model, as [turn.Turn.Step] does, and sends its calls, and its text
// and its thinking where no piece of them was sent.
func (t *Turn) Step(ctx context.Context, row sessionstore.Message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ses.expect(key(row))
	if err := t.turn.Step(ctx, row); err != nil {
		return err
	}
	hide := hidden{text: t.text.Len() > 0, thinking: t.thinking.Len() > 0}
	t.text, t.thinking = stream{}, stream{}
	return t.show(row, hide)
}

// Call asks the client about a call of the last step, runs it and stores its result, as
// [turn.Turn.Call] does, and sends what becomes of it.
func (t *Turn) Call(ctx context.Context, call sessionstore.ToolCall, run turn.Run) (sessionstore.Message, error) {
	id, seen := t.ses.calling(call.ID), run
	if run != nil {
		seen = func(ctx context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
			_ = t.Update(proto.UpdateToolCall(id, proto.WithUpdateStatus(proto.ToolCallStatusInProgress))) // without the client it runs, too
			return run(ctx, call)
		}
	}
	row, err := t.turn.Call(ctx, call, seen)
	if row.Role() == "" { // it stays open, or there is no such call
		if id == "" {
			return row, err
		}
		return row, errors.Join(err, t.Update(proto.UpdateToolCall(id, proto.WithUpdateStatus(proto.ToolCallStatusFailed))))
	}
	t.ses.expect(key(row))
	return row, errors.Join(err, t.show(row, hidden{}))
}

// Update sends an update of the author's, such as a plan. It is not stored.
func (t *Turn) Update(u proto.SessionUpdate) error {
	return t.agent.send(t.ses, []proto.SessionUpdate{u})
}

// The options of a user about a call.
var options = []proto.PermissionOption{
	{OptionId: "once", Name: "Allow", Kind: proto.PermissionOptionKindAllowOnce},
	{OptionId: "always", Name: "Always allow exactly this", Kind: proto.PermissionOptionKindAllowAlways},
	{OptionId: "reject", Name: "Reject", Kind: proto.PermissionOptionKindRejectOnce},
}

// approve asks the client about a call, unless it needs no permission or the user has allowed
// it for the session. A client that ends the turn decides nothing.
func (t *Turn) approve(ctx context.Context, call sessionstore.ToolCall) (agentstate.Verdict, error) {
	if t.agent.Asks != nil && !t.agent.Asks(call) {
		return agentstate.Approved, nil
	}
	state, err := agentstate.Open(t.Store, t.ID, nil)
	if err != nil {
		return agentstate.Undecided, err
	}
	defer state.Close()
	command := call.Name + " " + string(call.Arguments)
	if known, err := state.IsCommandApproved(ctx, command); err != nil {
		return agentstate.Undecided, err
	} else if known {
		return agentstate.Approved, nil
	}
	u := t.agent.start(call, t.ses.calling(call.ID))
	answer, err := t.agent.conn.RequestPermission(ctx, proto.RequestPermissionRequest{SessionId: t.ses.id, Options: options, ToolCall: proto.ToolCallUpdate{
		ToolCallId: u.ToolCallId, Title: &u.Title, Kind: &u.Kind, Status: &u.Status, Content: u.Content, Locations: u.Locations, RawInput: u.RawInput,
	}})
	if err != nil {
		return agentstate.Undecided, err
	}
	if answer.Outcome.Selected == nil {
		return agentstate.Undecided, context.Canceled
	}
	switch answer.Outcome.Selected.OptionId {
	case "once":
		return agentstate.Approved, nil
	case "always":
		return agentstate.Approved, state.AddApprovedCommand(ctx, command)
	case "reject":
		return agentstate.Rejected, nil
	}
	return agentstate.Undecided, fmt.Errorf("the client chose %.64q, which was not offered", answer.Outcome.Selected.OptionId)
}
