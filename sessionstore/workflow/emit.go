package workflow

import (
	"context"
)

// Emit saves p, unless its session is null, and publishes it to every subscriber, also when
// saving failed; the error is the error of saving. An output that [Workflow.SavePhaseOutput]
// refuses as invalid is not published either. All of p is saved; prompt and input are
// published with the status running only.
func (w *Workflow) Emit(ctx context.Context, p PhaseOutput) error {
	if err := p.check(); err != nil {
		return err
	}
	p = p.clone() // the agent may change the values that it handed over
	var err error
	if p.SessionID != nil {
		_, err = w.SavePhaseOutput(ctx, *p.SessionID, p)
	}
	if p.Status != running {
		p.SystemPrompt, p.UserInput = nil, nil
	}
	w.subs.publish(p)
	return err
}

// Subscribe returns a subscription to all payloads that are emitted through
// this Workflow. It is in place when Subscribe returns, and must be closed.
func (w *Workflow) Subscribe() *Subscription { return w.subs.add() }
