package workflow

import (
	"iter"
	"slices"
	"sync"
)

// queueLimit is how many payloads wait for a subscriber.
const queueLimit = 256

// subscribers are the subscriptions of a Workflow that are not closed.
type subscribers struct {
	mu   sync.Mutex // guards subs, and is held while a payload is published
	subs []*Subscription
}

// add adds a new subscription.
func (a *subscribers) add() *Subscription {
	s := &Subscription{all: a}
	s.wake = sync.NewCond(&s.mu)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subs = append(a.subs, s)
	return s
}

func (a *subscribers) remove(s *Subscription) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subs = slices.DeleteFunc(a.subs, func(other *Subscription) bool { return other == s })
}

// publish gives a copy of p to every subscription.
func (a *subscribers) publish(p PhaseOutput) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.subs {
		s.push(p.clone())
	}
}

// Subscription receives the payloads emitted from its beginning to its Close.
type Subscription struct {
	all  *subscribers // has this one until Close
	wake *sync.Cond   // of mu; the queue grew, or no more comes

	mu     sync.Mutex // guards the fields below
	queue  []PhaseOutput
	missed int
	closed bool
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

// Close ends the subscription; waiting payloads can still be read. A second Close does
// nothing, and the error is always nil.
func (s *Subscription) Close() error {
	s.all.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake.Broadcast()
	return nil
}
