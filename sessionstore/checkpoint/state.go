package checkpoint

import (
	"bytes"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// A State is a valid session-state.json at one instant. It does not change;
// the zero State is empty.
type State struct {
	raw []byte

	// Recovered tells that session-state.json was missing or damaged, and this
	// is its backup, the state before the last change.
	Recovered bool
}

// Raw returns a copy of the bytes, unknown members and all.
func (s State) Raw() []byte { return bytes.Clone(s.raw) }

// Report returns the warnings about the state.
func (s State) Report() Report { return Validate(s.raw) }

func (s State) text(names ...string) string {
	v := s.raw
	for _, name := range names {
		v = in(v, name, "null")
	}
	return textOf(v)
}

// Version returns the version of the file as it was read.
func (s State) Version() string { return s.text("version") }

// ID returns the session's id.
func (s State) ID() string { return s.text("session_id") }

// Status returns the session's status.
func (s State) Status() Status { return Status(s.text("status")) }

// ResearchGoals returns the user's goals, or "".
func (s State) ResearchGoals() string { return s.text("user_context", "research_goals") }

// OutputDirectory returns the directory of the documents, or "".
func (s State) OutputDirectory() string { return s.text("config", "output_directory") }

// CreatedAt returns when the session was made.
func (s State) CreatedAt() time.Time {
	t, _, _ := parseTime(s.text("created_at"))
	return t
}

// LastUpdated returns when the state was last written, or, where it does not
// tell, when it was made.
func (s State) LastUpdated() time.Time {
	if t, _, ok := parseTime(s.text("last_updated")); ok {
		return t
	}
	return s.CreatedAt()
}

// CurrentPhase returns the phase to work on.
func (s State) CurrentPhase() int { return int(value(in(s.raw, "current_phase", "0"))) }

// CompletedPhases returns the phases that are done, in the order of the file.
func (s State) CompletedPhases() []int {
	var phases []int
	for v := range pyjson.Elements(in(s.raw, "completed_phases", "[]")) {
		if n := int(value(v)); !slices.Contains(phases, n) {
			phases = append(phases, n)
		}
	}
	return phases
}

// An Output is one document of a phase.
type Output struct {
	Member string // such as "chapter_plans" or "audience_documents.researcher_plan"
	Path   string // as the state has it; "" when it has none
}

// Outputs returns the documents of a phase; what it has to have and has not is
// one with an empty path.
func (s State) Outputs(phase int) []Output {
	if phase < FirstPhase || phase > LastPhase {
		return nil
	}
	all := in(s.raw, "outputs", "{}")
	var found []Output
	for _, name := range outputs(phase) {
		if name == "audience_documents" {
			for _, doc := range documents() {
				found = append(found, Output{name + "." + doc, s.text("outputs", name, doc)})
			}
			continue
		}
		v := in(all, name, "null")
		if pyjson.KindOf(v) != pyjson.Array {
			found = append(found, Output{name, s.text("outputs", name)})
			continue
		}
		for item := range pyjson.Elements(v) {
			found = append(found, Output{name, pyjson.Text(item)})
		}
	}
	return found
}

// Context is what the user tells about the work.
type Context struct {
	DatasetDescription string            `json:"dataset_description,omitempty"`
	ResearchGoals      string            `json:"research_goals,omitempty"`
	BiologicalContext  map[string]string `json:"biological_context,omitempty"`
}
