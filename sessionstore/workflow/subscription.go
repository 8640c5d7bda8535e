package workflow

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
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
	s := &Subscription{subscribers: a, queue: make(chan PhaseOutput, queueLimit)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subs = append(a.subs, s)
	return s
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
	subscribers *subscribers // has this one until Close
	queue       chan PhaseOutput
	missed      atomic.Int64
}

// Payloads yields the payloads in order and waits for further ones, until the
// subscription is closed and nothing is left. It is for one consumer at a time.
func (s *Subscription) Payloads() iter.Seq[PhaseOutput] {
	return func(yield func(PhaseOutput) bool) {
		for p := range s.queue {
			if !yield(p) {
				return
			}
		}
	}
}

// push never waits: the oldest payload makes room.
func (s *Subscription) push(p PhaseOutput) {
	for {
		select {
		case s.queue <- p:
			return
		default:
		}
		select {
		case <-s.queue:
			s.missed.Add(1)
		default: // the consumer took it
		}
	}
}

// Missed returns how many payloads were dropped because the subscriber was
// slow: the oldest of more than 256 that wait.
func (s *Subscription) Missed() int { return int(s.missed.Load()) }

// Close ends the subscription; waiting payloads can still be read. A second Close does
// nothing, and the error is always nil.
func (s *Subscription) Close() error {
	a := s.subscribers
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.subs, s); i >= 0 {
		a.subs = slices.Delete(a.subs, i, i+1)
		close(s.queue)
	}
	return nil
}
