package checkpoint

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// An Approval is what the user said at the gate of a phase. The time is added.
type Approval struct {
	Approved         bool
	Feedback         *string
	ChangesRequested []string
}

// An ErrorEntry is an error that happened in a session. The time is added.
type ErrorEntry struct {
	Phase      int    `json:"phase"`
	Agent      string `json:"agent"`
	Type       string `json:"error_type"`
	Message    string `json:"error_message"`
	RetryCount int    `json:"retry_count"`
	Resolution string `json:"resolution"`
}

// An AgentRun is one run of an agent. The time is added.
type AgentRun struct {
	Agent           string   `json:"agent"`
	Phase           int      `json:"phase"`
	DurationSeconds float64  `json:"duration_seconds"`
	Status          string   `json:"status"` // success, failure or timeout
	OutputFiles     []string `json:"output_files"`
}

// Decide appends a decision of the user, an object of any shape, with the time
// as its timestamp.
func (s *Session) Decide(ctx context.Context, decision any) error {
	return s.record(ctx, "record decision", "user_decisions", decision)
}

// LogError appends an error to the session's log.
func (s *Session) LogError(ctx context.Context, e ErrorEntry) error {
	return s.record(ctx, "log error", "errors", e)
}

// LogAgent appends a run of an agent to the session's log.
func (s *Session) LogAgent(ctx context.Context, run AgentRun) error {
	if run.OutputFiles == nil {
		run.OutputFiles = []string{}
	}
	return s.record(ctx, "log agent", "agent_execution_log", run)
}

func (s *Session) record(ctx context.Context, what, list string, entry any) error {
	return s.change(ctx, what, func(old State) ([]byte, error) {
		raw, err := s.stamped(entry)
		if err != nil {
			return nil, err
		}
		return added(old.raw, list, raw)
	})
}

// stamped returns entry as JSON with the time, as its first member unless it
// has one.
func (s *Session) stamped(entry any) ([]byte, error) {
	raw, err := encodeObject(entry)
	if err != nil {
		return nil, err
	}
	now := stamp(s.st.opts.Now())
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

// Approve records what the user said at the gate of a phase, in the place of
// what was said before. Any phase may have one; the usual gates are 3, 4 and 6.
func (s *Session) Approve(ctx context.Context, phase int, a Approval) error {
	return s.change(ctx, "approve", func(old State) ([]byte, error) {
		if err := checkPhase(phase); err != nil {
			return nil, err
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
		}{a.Approved, pyjson.Text(stamp(s.st.opts.Now())), a.Feedback, changes})
		if err != nil {
			return nil, err
		}
		approvals := pyjson.Splice(in(old.raw, "user_approvals", "{}"), fmt.Sprintf("phase_%d", phase), raw)
		return pyjson.Splice(old.raw, "user_approvals", approvals), nil
	})
}
