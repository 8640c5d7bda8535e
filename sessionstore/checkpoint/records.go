package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// An Approval is what the user said at the gate of a phase.
type Approval struct {
	Approved         bool
	Feedback         *string
	ChangesRequested []string
	Time             time.Time // when it was said; zero is now
}

// A Decision is something that the user decided.
type Decision struct {
	Value json.RawMessage // an object of any shape, with its timestamp
	Time  time.Time       // zero where the object tells none
}

// An ErrorEntry is an error that happened in a session.
type ErrorEntry struct {
	Time       time.Time `json:"-"` // when it happened; zero is now
	Phase      int       `json:"phase"`
	Agent      string    `json:"agent"`
	Type       string    `json:"error_type"`
	Message    string    `json:"error_message"`
	RetryCount int       `json:"retry_count"`
	Resolution string    `json:"resolution"`
}

// An AgentRun is one run of an agent.
type AgentRun struct {
	Time            time.Time `json:"-"` // when it was logged; zero is now
	Agent           string    `json:"agent"`
	Phase           int       `json:"phase"`
	DurationSeconds float64   `json:"duration_seconds"`
	Status          string    `json:"status"` // success, failure or timeout
	OutputFiles     []string  `json:"output_files"`
}

// Decide appends a decision of the user, an object of any shape, with the time
// of the call as its timestamp. [State.Decisions] reads it.
func (s *Session) Decide(ctx context.Context, decision any) error {
	return s.record(ctx, "record decision", "user_decisions", decision, time.Time{})
}

// LogError appends an error to the session's log. [State.Errors] reads it.
func (s *Session) LogError(ctx context.Context, e ErrorEntry) error {
	return s.record(ctx, "log error", "errors", e, e.Time)
}

// LogAgent appends a run of an agent to the session's log. [State.AgentRuns]
// reads it.
func (s *Session) LogAgent(ctx context.Context, run AgentRun) error {
	if run.OutputFiles == nil {
		run.OutputFiles = []string{}
	}
	return s.record(ctx, "log agent", "agent_execution_log", run, run.Time)
}

// record appends an entry to a list of the state.
func (s *Session) record(ctx context.Context, what, list string, entry any, at time.Time) error {
	return s.change(ctx, what, func(old State) ([]byte, error) {
		raw, err := s.stamped(entry, at)
		if err != nil {
			return nil, err
		}
		return added(old.raw, list, raw)
	})
}

// stamped returns entry as JSON with a time, as its first member unless it has
// one.
func (s *Session) stamped(entry any, at time.Time) ([]byte, error) {
	raw, err := encodeObject(entry)
	if err != nil {
		return nil, err
	}
	now := s.stampOf(at)
	if _, has := pyjson.Lookup(raw, "timestamp"); has {
		return pyjson.Splice(raw, "timestamp", now), nil
	}
	first := append([]byte(`{"timestamp": `), now...)
	rest := pyjson.Trim(raw[1:])
	if rest[0] != '}' {
		first = append(first, ", "...)
	}
	return append(first, rest...), nil
}

// stampOf returns a time as it is written; the zero time is now.
func (s *Session) stampOf(at time.Time) []byte {
	if at.IsZero() {
		at = s.st.opts.Now()
	}
	return stamp(at)
}

// Approve records what the user said at the gate of a phase, in the place of
// what was said before. Phases 3, 4 and 6 have a gate; for another one the error
// Is [ErrInvalidPhase]. [State.Approvals] reads it.
func (s *Session) Approve(ctx context.Context, phase int, a Approval) error {
	return s.change(ctx, "approve", func(old State) ([]byte, error) {
		if !slices.Contains(gates(), phase) {
			return nil, fmt.Errorf("%w: %d has no gate, the gates are 3, 4 and 6", ErrInvalidPhase, phase)
		}
		changes := a.ChangesRequested
		if changes == nil {
			changes = []string{}
		}
		raw, err := pyjson.Encode(struct {
			Approved bool     `json:"approved"`
			Time     string   `json:"timestamp"`
			Feedback *string  `json:"feedback"`
			Changes  []string `json:"changes_requested"`
		}{a.Approved, pyjson.Text(s.stampOf(a.Time)), a.Feedback, changes})
		if err != nil {
			return nil, err
		}
		approvals := pyjson.Splice(in(old.raw, "user_approvals", "{}"), approvalName(phase), raw)
		return pyjson.Splice(old.raw, "user_approvals", approvals), nil
	})
}
