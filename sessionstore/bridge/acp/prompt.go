package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// Turn is the answer to one prompt: [turn.Turn], shown to the client as it comes. Its
// methods may be called by many goroutines.
type Turn struct {
	Store      *sessionstore.Store
	ID         string               // of the session
	Prompt     sessionstore.Message // as it is stored
	Cwd        string               // without symlinks
	McpServers []proto.McpServer    // that the client gave with the session

	agent *Sessions
	ses   *session
	turn  *turn.Turn

	mu             sync.Mutex // guards the fields below
	text, thinking strings.Builder // since the last Step
}

// Prompt stores a prompt and lets the author's agent answer it.
func (a agent) Prompt(_ context.Context, r proto.PromptRequest) (answer proto.PromptResponse, err error) {
	s := a.sessions()
	s.mu.Lock()
	ses, err := s.opened(r.SessionId)
	if err != nil {
		s.mu.Unlock()
		return answer, err
	}
	ctx := ses.ctx // not that of the request: the SDK ends that at the next prompt of the session
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
	s.mu.Unlock()
	if shown := s.settle(ses); err == nil {
		err = shown
	}
	if errors.Is(err, context.Canceled) || ctx.Err() != nil {
		answer.StopReason, err = proto.StopReasonCancelled, nil
	}
	return answer, fail(err)
}

// prepare stores the prompt. What an interrupted turn said is stored before it as its
// answer: the client has been shown it.
func (s *Sessions) prepare(ctx context.Context, ses *session, blocks []proto.ContentBlock) (*Turn, error) {
	o := &turn.Options{Owner: sessionstore.Owner{App: s.name()}}
	if s.Wait {
		o.Busy = turn.Wait
	}
	if err := s.mend(ctx, ses, o); err != nil {
		return nil, err
	}
	row, err := prompt(blocks, time.Now())
	if err != nil {
		return nil, err
	}
	t := &Turn{Store: ses.st, ID: string(ses.id), Prompt: row, Cwd: ses.cwd, McpServers: ses.servers, agent: s, ses: ses}
	o.Approve = t.approve
	ses.expect(rowKey(row))
	if t.turn, err = turn.Begin(ctx, ses.st, t.ID, row, o); err != nil {
		return nil, err
	}
	t.Prompt = t.turn.Prompt()
	return t, s.settle(ses)
}

// mend ends a turn that was interrupted: its calls get results, and what its draft says
// becomes its answer, which the client has been shown.
func (s *Sessions) mend(ctx context.Context, ses *session, o *turn.Options) error {
	old, err := turn.Resume(ctx, ses.st, string(ses.id), o)
	if errors.Is(err, turn.ErrNoTurn) {
		return nil
	} else if err != nil {
		return err
	}
	if d := old.Draft(); d.Text+d.Thinking != "" {
		ses.expect(saidKey(d.Text))
		err = errors.Join(old.Think(d.Thinking), old.Say(d.Text))
	}
	return errors.Join(err, old.End(ctx), old.Close())
}

// run lets the author's agent answer, and stores what it said.
func (a agent) run(ctx context.Context, t *Turn) (reason proto.StopReason, err error) {
	defer func() {
		t.mu.Lock()
		said, thought := t.text.String(), t.thinking.String()
		t.mu.Unlock()
		if said != "" || thought != "" {
			t.ses.expect(saidKey(said))
		}
		err = errors.Join(err, t.turn.End(context.WithoutCancel(ctx)), t.turn.Close())
	}()
	err = t.agent.guard("Prompt", func() (err error) {
		reason, err = a.Agent.Prompt(ctx, t)
		return err
	})
	return reason, err
}

// guard calls a function of the author: a panic in it is an error of this call alone.
func (s *Sessions) guard(name string, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil { // the log has no content: p may be of a session
			s.Logger.Error("acp: a function of the agent panicked", "function", name, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = &proto.RequestError{Code: -32603, Message: "the agent's " + name + " panicked; its log has the place"}
		}
	}()
	return call()
}

// name returns the name of the agent.
func (s *Sessions) name() string { return cmp.Or(s.Name, filepath.Base(os.Args[0])) }

// Say sends a piece of the answer, and stores it as [turn.Turn.Say] does.
func (t *Turn) Say(piece string) error {
	return t.piece(piece, &t.text, t.turn.Say, proto.UpdateAgentMessageText)
}

// Think sends a piece of the thinking, and stores it as [turn.Turn.Think] does.
func (t *Turn) Think(piece string) error {
	return t.piece(piece, &t.thinking, t.turn.Think, proto.UpdateAgentThoughtText)
}

func (t *Turn) piece(piece string, all *strings.Builder, store func(string) error, update func(string) proto.SessionUpdate) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all.WriteString(piece)
	return errors.Join(store(piece), t.send(said(nil, update, piece)))
}

// Step stores a row of the model, as [turn.Turn.Step] does, and sends its calls, and its text and
// thinking where no piece was said of them.
func (t *Turn) Step(ctx context.Context, row sessionstore.Message) error {
	view, err := seen(row)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ses.expect(rowKey(row))
	for _, c := range view.Calls {
		t.ses.expect(callKey(c.ID))
	}
	if err := t.turn.Step(ctx, row); err != nil {
		return err
	}
	text, thinking := t.text.Len() == 0, t.thinking.Len() == 0
	t.text.Reset()
	t.thinking.Reset()
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	return t.send(t.agent.updates(&t.ses.shown, view, text, thinking))
}

// Call asks the client about a call of the last step, runs it and stores its result, as
// [turn.Turn.Call] does, and sends what becomes of it.
func (t *Turn) Call(ctx context.Context, call sessionstore.ToolCall, run turn.Run) (row sessionstore.Message, err error) {
	id := t.ses.calling(call.ID)
	row, err = t.turn.Call(ctx, call, func(ctx context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
		_ = t.Update(proto.UpdateToolCall(id, proto.WithUpdateStatus(proto.ToolCallStatusInProgress))) // it runs, with a client or without
		return run(ctx, call)
	})
	if row.Role() == "" {
		return row, errors.Join(err, t.Update(proto.UpdateToolCall(id, proto.WithUpdateStatus(proto.ToolCallStatusFailed))))
	}
	view, failed := seen(row)
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	return row, errors.Join(err, failed, t.send(t.agent.updates(&t.ses.shown, view, false, false)))
}

// Update sends an update of the author's, such as a plan. It is not stored.
func (t *Turn) Update(u proto.SessionUpdate) error { return t.send([]proto.SessionUpdate{u}) }

func (t *Turn) send(all []proto.SessionUpdate) error { return t.agent.send(t.ses, all) }

// send sends updates in their order.
func (s *Sessions) send(ses *session, all []proto.SessionUpdate) error {
	for _, u := range all {
		if err := s.conn.SessionUpdate(s.ctx, proto.SessionNotification{SessionId: ses.id, Update: u}); err != nil {
			return err
		}
	}
	return nil
}

// The answers of a client to a call.
var options = []proto.PermissionOption{
	{OptionId: "once", Name: "Allow", Kind: proto.PermissionOptionKindAllowOnce},
	{OptionId: "always", Name: "Always allow exactly this", Kind: proto.PermissionOptionKindAllowAlways},
	{OptionId: "reject", Name: "Reject", Kind: proto.PermissionOptionKindRejectOnce},
}

// approve asks the client about a call, unless it needs no permission or the user allowed it
// for this session. A client that ends the turn in the place of an answer decides nothing.
func (t *Turn) approve(ctx context.Context, call sessionstore.ToolCall) (v agentstate.Verdict, err error) {
	if t.agent.Asks != nil && !t.agent.Asks(call) {
		return agentstate.Approved, nil
	}
	state, err := agentstate.Open(t.Store, t.ID, nil)
	if err != nil {
		return v, err
	}
	defer state.Close()
	command := call.Name + " " + string(call.Arguments)
	if known, err := state.IsCommandApproved(ctx, command); err != nil || known {
		return agentstate.Approved, err
	}
	start := t.agent.start(call, t.ses.calling(call.ID))
	answer, err := t.agent.conn.RequestPermission(ctx, proto.RequestPermissionRequest{SessionId: t.ses.id, Options: options, ToolCall: proto.ToolCallUpdate{
		ToolCallId: start.ToolCallId, Title: &start.Title, Kind: &start.Kind, Status: &start.Status,
		Content: start.Content, Locations: start.Locations, RawInput: start.RawInput,
	}})
	if err != nil {
		return agentstate.Undecided, err
	}
	if answer.Outcome.Selected == nil {
		return agentstate.Undecided, context.Canceled
	}
	switch answer.Outcome.Selected.OptionId {
	case "always":
		return agentstate.Approved, state.AddApprovedCommand(ctx, command)
	case "once":
		return agentstate.Approved, nil
	case "reject":
		return agentstate.Rejected, nil
	}
	return agentstate.Undecided, fmt.Errorf("the client answered %.64q, which was not asked", answer.Outcome.Selected.OptionId)
}
