package checkpoint

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Phases of a workflow.
const (
	FirstPhase = 0
	LastPhase  = 7
)

const newest = "2.1" // the version that is written

type kind uint8

const (
	object kind = iota
	array
	text
	integer
	number
	boolean
)

// kindNames are the names of the kinds in JSON Schema.
var kindNames = [...]string{"object", "array", "string", "integer", "number", "boolean"}

// A rule says what a value may be. Null counts as absent unless required.
type rule struct {
	kind     kind
	required []string        // members of an object
	members  map[string]rule // of an object; others are free unless rest is set
	rest     *rule           // all members of an object that are not listed
	items    *rule           // of an array
	enum     []string        // of a text
	pattern  *regexp.Regexp  // of a text
	time     bool            // a text that is a time
	bounded  bool            // an integer from min to max
	min, max float64
}

// outputs are the members of outputs that each phase makes.
func outputs(phase int) []string {
	return [...][]string{
		{},
		{"research_structure"},
		{"chapter_plans"},
		{"structure_review"},
		{"notebook_review"},
		{"analyses", "strategy_overview"},
		{"statistical_review", "corrections_manifest"},
		{"audience_documents"},
	}[phase]
}

// allOutputs returns the members of outputs that any phase makes.
func allOutputs() (all []string) {
	for phase := FirstPhase; phase <= LastPhase; phase++ {
		all = append(all, outputs(phase)...)
	}
	return all
}

// gates are the phases that go on when the user approves.
func gates() []int { return []int{3, 4, 6} }

// approvalName is the member of user_approvals for a phase.
func approvalName(phase int) string { return fmt.Sprintf("phase_%d", phase) }

// approvalPhase returns the phase of a member of user_approvals.
func approvalPhase(name string) (phase int, ok bool) {
	digits, ok := strings.CutPrefix(name, "phase_")
	phase, err := strconv.Atoi(digits)
	return phase, ok && err == nil
}

// documents are the members of audience_documents.
func documents() []string {
	return []string{"researcher_plan", "architect_handoff", "engineering_translation"}
}

// schema returns the rule of a whole state.
func schema() rule {
	str, integral, truth, when := rule{kind: text}, rule{kind: integer}, rule{kind: boolean}, rule{kind: text, time: true}
	strs := rule{kind: array, items: &str}
	phase := rule{kind: integer, bounded: true, min: FirstPhase, max: LastPhase}
	approval := rule{kind: object, members: map[string]rule{
		"approved": truth, "timestamp": when, "feedback": str, "changes_requested": strs,
	}}
	approvals := map[string]rule{}
	for _, phase := range gates() {
		approvals[approvalName(phase)] = approval
	}
	failure := rule{kind: object, members: map[string]rule{
		"timestamp": when, "phase": integral, "agent": str, "error_type": str,
		"error_message": str, "retry_count": integral, "resolution": str,
	}}
	run := rule{kind: object, members: map[string]rule{
		"timestamp": when, "agent": str, "phase": integral, "duration_seconds": {kind: number},
		"status": {kind: text, enum: []string{"success", "failure", "timeout"}}, "output_files": strs,
	}}
	return rule{
		kind:     object,
		required: []string{"version", "session_id", "created_at", "status", "current_phase"},
		members: map[string]rule{
			"version":          {kind: text, enum: []string{"1.0", "2.0", newest}},
			"session_id":       {kind: text, pattern: regexp.MustCompile(`^session-[0-9]{8}-[0-9]{6}-[0-9]+$`)},
			"created_at":       when,
			"last_updated":     when,
			"status":           {kind: text, enum: statuses()},
			"current_phase":    phase,
			"completed_phases": {kind: array, items: &phase},
			"user_approvals":   {kind: object, members: approvals},
			"config": {kind: object, members: map[string]rule{
				"output_directory": str, "session_directory": str,
				"num_chapters": {kind: integer, bounded: true, min: 3, max: 7},
			}},
			"outputs": {kind: object, members: map[string]rule{
				"research_structure": str, "chapter_plans": strs, "structure_review": str, "notebook_review": str,
				"analyses": strs, "strategy_overview": str, "statistical_review": str, "corrections_manifest": str,
				"audience_documents": {kind: object, members: map[string]rule{
					"researcher_plan": str, "architect_handoff": str, "engineering_translation": str,
				}},
			}},
			"user_context": {kind: object, members: map[string]rule{
				"dataset_description": str, "research_goals": str,
				"biological_context": {kind: object, rest: &str},
			}},
			"errors":              {kind: array, items: &failure},
			"agent_execution_log": {kind: array, items: &run},
		},
	}
}
