package checkpoint

import (
	"bytes"
	"math"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// Approvals returns what the user said at the gates, by phase. What Rollback
// took back is not among it.
func (s State) Approvals() map[int]Approval {
	all := map[int]Approval{}
	for m := range pyjson.Members(in(s.raw, "user_approvals", "{}")) {
		phase, ok := approvalPhase(pyjson.Text(m.Key))
		if !ok || pyjson.KindOf(m.Value) != pyjson.Object {
			continue
		}
		e := entry(m.Value)
		a := Approval{Approved: e.truth("approved"), ChangesRequested: e.texts("changes_requested"), Time: e.time("timestamp")}
		if v := e.value("feedback"); pyjson.KindOf(v) == pyjson.String {
			text := pyjson.Text(v)
			a.Feedback = &text
		}
		all[phase] = a
	}
	return all
}

// Decisions returns what the user decided, in order.
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
			Time: e.time("timestamp"), Phase: e.whole("phase"), Agent: e.text("agent"), Type: e.text("error_type"),
			Message: e.text("error_message"), RetryCount: e.whole("retry_count"), Resolution: e.text("resolution"),
		})
	}
	return all
}

// AgentRuns returns the runs of agents that were logged, in order.
func (s State) AgentRuns() []AgentRun {
	var all []AgentRun
	for _, e := range s.entries("agent_execution_log") {
		all = append(all, AgentRun{
			Time: e.time("timestamp"), Agent: e.text("agent"), Phase: e.whole("phase"),
			DurationSeconds: value(e.value("duration_seconds")), Status: e.text("status"), OutputFiles: e.texts("output_files"),
		})
	}
	return all
}

// entries returns the objects of a list of the state.
func (s State) entries(list string) (all []entry) {
	for v := range pyjson.Elements(in(s.raw, list, "[]")) {
		if pyjson.KindOf(v) == pyjson.Object {
			all = append(all, entry(v))
		}
	}
	return all
}

// An entry is an object of a valid state. What it does not have is empty.
type entry []byte

func (e entry) value(name string) []byte { return in(e, name, "null") }

func (e entry) text(name string) string { return textOf(e.value(name)) }

func (e entry) truth(name string) bool { return pyjson.KindOf(e.value(name)) == pyjson.True }

// whole returns an integer, which may be written as 3.0.
func (e entry) whole(name string) int {
	return int(max(math.MinInt32, min(math.MaxInt32, value(e.value(name)))))
}

func (e entry) texts(name string) []string {
	all := []string{}
	for v := range pyjson.Elements(in(e, name, "[]")) {
		all = append(all, textOf(v))
	}
	return all
}

func (e entry) time(name string) time.Time {
	t, _, _ := parseTime(e.text(name))
	return t
}
