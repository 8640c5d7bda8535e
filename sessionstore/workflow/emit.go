package workflow

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// queueLimit is how many payloads wait for a subscriber.
const queueLimit = 256

// Emit saves p, unless its session is null, and publishes it to every
// subscriber, also when saving failed; the error is that of saving. Prompt and
// input go out with the status running only.
func (l *Log) Emit(ctx context.Context, p PhaseOutput) error {
	if p.Status != running {
		p.SystemPrompt, p.UserInput = nil, nil
	}
	p = p.clone() // the agent may go on with what it handed over
	var err error
	if p.SessionID != nil {
		_, err = l.SavePhaseOutput(ctx, *p.SessionID, p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.subs {
		s.push(p.clone())
	}
	return err
}

// clone returns a copy that shares no pointer with p.
func (p PhaseOutput) clone() PhaseOutput {
	for _, at := range []**string{&p.SessionID, &p.SystemPrompt, &p.UserInput, &p.Output, &p.Error} {
		if *at != nil {
			text := **at
			*at = &text
		}
	}
	return p
}

// Subscription receives what is emitted from its beginning to its Close.
type Subscription struct {
	log  *Log
	wake *sync.Cond // of mu; the queue grew, or no more comes

	mu     sync.Mutex // guards what follows
	queue  []PhaseOutput
	missed int
	closed bool
}

// Subscribe returns a subscription to all payloads that are emitted through
// this Log. It is in place when Subscribe returns, and must be closed.
func (l *Log) Subscribe() *Subscription {
	s := &Subscription{log: l}
	s.wake = sync.NewCond(&s.mu)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subs = append(l.subs, s)
	return s
}

// Payloads yields the payloads in order and waits for further ones, until the
// subscription is closed and nothing is left. It is for one consumer at a time.
func (s *Subscription) Payloads() iter.Seq[PhaseOutput] {
	return func(yield func(PhaseOutput) bool) {
		for {
			p, ok := s.next()
			if !ok || !yield(p) {
				return
			}
		}
	}
}

func (s *Subscription) next() (PhaseOutput, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.wake.Wait()
	}
	if len(s.queue) == 0 {
		return PhaseOutput{}, false
	}
	p := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return p, true
}

// push never waits: the oldest payload makes room.
func (s *Subscription) push(p PhaseOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == queueLimit {
		s.queue = slices.Delete(s.queue, 0, 1)
		s.missed++
	}
	s.queue = append(s.queue, p)
	s.wake.Broadcast()
}

// Missed returns how many payloads were dropped because the subscriber was
// slow: the oldest of more than 256 that wait.
func (s *Subscription) Missed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missed
}

// Close ends the subscription; what waits can still be read. A second Close
// does nothing, and the error is always nil.
func (s *Subscription) Close() error {
	s.log.mu.Lock()
	s.log.subs = slices.DeleteFunc(s.log.subs, func(other *Subscription) bool { return other == s })
	s.log.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake.Broadcast()
	return nil
}
