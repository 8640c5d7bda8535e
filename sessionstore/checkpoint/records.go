package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// An Approval is the user's answer at the gate of a phase.
type Approval struct {
	Approved         bool
	Feedback         *string
	ChangesRequested []string
	Time             time.Time // when it was said; zero is now
}

// A Decision is a decision of the user.
type Decision struct {
	Value json.RawMessage // an object of any shape, with its timestamp
	Time  time.Time       // zero where the object has none
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
func (r *Run) Decide(ctx context.Context, decision any) error {
	return r.record(ctx, "record decision", "user_decisions", decision, time.Time{})
}

// LogError appends an error to the session's log. [State.Errors] reads it.
func (r *Run) LogError(ctx context.Context, e ErrorEntry) error {
	return r.record(ctx, "log error", "errors", e, e.Time)
}

// LogAgent appends a run of an agent to the session's log. [State.AgentRuns]
// reads it.
func (r *Run) LogAgent(ctx context.Context, run AgentRun) error {
	if run.OutputFiles == nil {
		run.OutputFiles = []string{}
	}
	return r.record(ctx, "log agent", "agent_execution_log", run, run.Time)
}

// record appends an entry to a list of the state.
func (r *Run) record(ctx context.Context, what, list string, entry any, at time.Time) error {
	return r.change(ctx, what, func(old State) ([]byte, error) {
		raw, err := r.stamped(entry, at)
		if err != nil {
			return nil, err
		}
		return appendedTo(old.raw, list, raw)
	})
}

// stamped returns entry as JSON with a time, as its first member unless it has
// one.
func (r *Run) stamped(entry any, at time.Time) ([]byte, error) {
	raw, err := encodeObject(entry)
	if err != nil {
		return nil, err
	}
	now := r.stampOf(at)
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
func (r *Run) stampOf(at time.Time) []byte {
	if at.IsZero() {
		at = r.parent.opts.Now()
	}
	return stamp(at)
}

// Approve records the user's answer at the gate of a phase, in the place of an earlier
// answer. Phases 3, 4 and 6 have a gate; for another one the error Is [ErrInvalidPhase].
// [State.Approvals] reads it.
func (r *Run) Approve(ctx context.Context, phase int, a Approval) error {
	return r.change(ctx, "approve", func(old State) ([]byte, error) {
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
		}{a.Approved, pyjson.Text(r.stampOf(a.Time)), a.Feedback, changes})
		if err != nil {
			return nil, err
		}
		approvals := pyjson.Splice(memberOr(old.raw, "user_approvals", "{}"), approvalName(phase), raw)
		return pyjson.Splice(old.raw, "user_approvals", approvals), nil
	})
}

// Approvals returns the user's answers at the gates, by phase. Answers that Rollback took
// back are not among them.
func (s State) Approvals() map[int]Approval {
	all := map[int]Approval{}
	for m := range pyjson.Members(memberOr(s.raw, "user_approvals", "{}")) {
		phase, ok := approvalPhase(pyjson.Text(m.Key))
		if !ok || pyjson.KindOf(m.Value) != pyjson.Object {
			continue
		}
		e := entry(m.Value)
		a := Approval{Approved: e.boolean("approved"), ChangesRequested: e.texts("changes_requested"), Time: e.time("timestamp")}
		if v := e.value("feedback"); pyjson.KindOf(v) == pyjson.String {
			text := pyjson.Text(v)
			a.Feedback = &text
		}
		all[phase] = a
	}
	return all
}

// Decisions returns the user's decisions, in order.
func (s State) Decisions() []Decision {
	var all []Decision
	for _, e := range s.entries("user_decisions") {
		all = append(all, Decision{bytes.Clone(e), e.time("timestamp")})
	}
	return all
}

// Errors returns the errors that were logged, in order.
func (s State) Errors() []ErrorEntry {
	var all []ErrorEntry
	for _, e := range s.entries("errors") {
		all = append(all, ErrorEntry{
			Time: e.time("timestamp"), Phase: e.integer("phase"), Agent: e.text("agent"), Type: e.text("error_type"),
			Message: e.text("error_message"), RetryCount: e.integer("retry_count"), Resolution: e.text("resolution"),
		})
	}
	return all
}

// AgentRuns returns the runs of agents that were logged, in order.
func (s State) AgentRuns() []AgentRun {
	var all []AgentRun
	for _, e := range s.entries("agent_execution_log") {
		all = append(all, AgentRun{
			Time: e.time("timestamp"), Agent: e.text("agent"), Phase: e.integer("phase"),
			DurationSeconds: numberOf(e.value("duration_seconds")), Status: e.text("status"), OutputFiles: e.texts("output_files"),
		})
	}
	return all
}

// entries returns the objects of a list of the state.
func (s State) entries(list string) (all []entry) {
	for v := range pyjson.Elements(memberOr(s.raw, list, "[]")) {
		if pyjson.KindOf(v) == pyjson.Object {
			all = append(all, entry(v))
		}
	}
	return all
}

// An entry is an object of a valid state. A member that it does not have is empty.
type entry []byte

func (e entry) value(name string) []byte { return memberOr(e, name, "null") }

func (e entry) text(name string) string { return pyjson.Text(e.value(name)) }

func (e entry) boolean(name string) bool { return pyjson.KindOf(e.value(name)) == pyjson.True }

// integer returns an integer, which may be written as 3.0.
func (e entry) integer(name string) int {
	return int(max(math.MinInt32, min(math.MaxInt32, numberOf(e.value(name)))))
}

func (e entry) texts(name string) []string {
	all := []string{}
	for v := range pyjson.Elements(memberOr(e, name, "[]")) {
		all = append(all, pyjson.Text(v))
	}
	return all
}

func (e entry) time(name string) time.Time {
	t, _, _ := parseTime(e.text(name))
	return t
}

// Provenance is the origin of a document.
type Provenance struct {
	GeneratedBy string // such as "scientific-analysis-architect v2.0.0"
	Session     string
	Phase       int
	Agent       string
	Timestamp   time.Time
}

// Header returns the six comment lines that a document begins with. Values
// that would end the comment or the line are refused.
func (p Provenance) Header() (string, error) {
	lines := []string{
		"Generated by: " + p.GeneratedBy,
		"Session: " + p.Session,
		"Phase: " + strconv.Itoa(p.Phase),
		"Agent: " + p.Agent,
		"Timestamp: " + p.Timestamp.UTC().Format(time.RFC3339Nano),
	}
	var b strings.Builder
	b.WriteString("<!-- Provenance -->\n")
	for _, line := range lines {
		if strings.Contains(line, "-->") || strings.ContainsAny(line, "\r\n") {
			return "", errors.New("write provenance: a value would end the comment or its line")
		}
		b.WriteString("<!-- " + line + " -->\n")
	}
	return b.String(), nil
}
