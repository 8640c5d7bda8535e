package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// A State is a valid session-state.json at one instant. It does not change;
// the zero State is empty.
type State struct {
	raw []byte

	// Recovered reports that session-state.json was missing or damaged, and this is its
	// backup, the state before the last change.
	Recovered bool
}

// Raw returns a copy of the bytes, unknown members and all.
func (s State) Raw() []byte { return bytes.Clone(s.raw) }

func (s State) text(names ...string) string {
	v := s.raw
	for _, name := range names {
		v = memberOr(v, name, "null")
	}
	return pyjson.Text(v)
}

// Version returns the version of the file as it was read.
func (s State) Version() string { return s.text("version") }

// ID returns the session's id.
func (s State) ID() string { return s.text("session_id") }

// Status returns the session's status.
func (s State) Status() Status { return Status(s.text("status")) }

// ResearchGoals returns the user's goals, or "".
func (s State) ResearchGoals() string { return s.text("user_context", "research_goals") }

// Context returns the user's description of the work, empty where the state has none.
func (s State) Context() Context {
	c := Context{DatasetDescription: s.text("user_context", "dataset_description"), ResearchGoals: s.ResearchGoals()}
	for m := range pyjson.Members(memberOr(memberOr(s.raw, "user_context", "{}"), "biological_context", "{}")) {
		if c.BiologicalContext == nil {
			c.BiologicalContext = map[string]string{}
		}
		c.BiologicalContext[pyjson.Text(m.Key)] = pyjson.Text(m.Value)
	}
	return c
}

// Chapters returns config.num_chapters, the number of chapters of the research structure;
// 0: it is not known.
func (s State) Chapters() int {
	return int(numberOf(memberOr(memberOr(s.raw, "config", "{}"), "num_chapters", "0")))
}

// OutputDirectory returns the directory of the documents, or "".
func (s State) OutputDirectory() string { return s.text("config", "output_directory") }

// CreatedAt returns when the session was made.
func (s State) CreatedAt() time.Time {
	t, _, _ := parseTime(s.text("created_at"))
	return t
}

// LastUpdated returns when the state was last written, or, where the file has no such time,
// when it was made.
func (s State) LastUpdated() time.Time {
	if t, _, ok := parseTime(s.text("last_updated")); ok {
		return t
	}
	return s.CreatedAt()
}

// CurrentPhase returns the phase to work on.
func (s State) CurrentPhase() int { return int(numberOf(memberOr(s.raw, "current_phase", "0"))) }

// CompletedPhases returns the phases that are done, in the order of the file.
func (s State) CompletedPhases() []int {
	var phases []int
	for v := range pyjson.Elements(memberOr(s.raw, "completed_phases", "[]")) {
		if n := int(numberOf(v)); !slices.Contains(phases, n) {
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

// Outputs returns the documents of a phase; a document that it must have and has not got
// has an empty path.
func (s State) Outputs(phase int) []Output {
	if phase < firstPhase || phase > lastPhase {
		return nil
	}
	all := memberOr(s.raw, "outputs", "{}")
	var found []Output
	for _, name := range outputs(phase) {
		if name == "audience_documents" {
			for _, doc := range documents() {
				found = append(found, Output{name + "." + doc, s.text("outputs", name, doc)})
			}
			continue
		}
		v := memberOr(all, name, "null")
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

// Context is the user's description of the work.
type Context struct {
	DatasetDescription string            `json:"dataset_description,omitempty"`
	ResearchGoals      string            `json:"research_goals,omitempty"`
	BiologicalContext  map[string]string `json:"biological_context,omitempty"`
}

// Phases of a workflow.
const (
	firstPhase = 0
	lastPhase  = 7
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

// A rule describes the values that are allowed. Null counts as absent unless required.
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
	for phase := firstPhase; phase <= lastPhase; phase++ {
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

// schema returns the rule of a whole state. Nobody changes it.
var schema = sync.OnceValue(func() *rule {
	str, integral, truth, when := rule{kind: text}, rule{kind: integer}, rule{kind: boolean}, rule{kind: text, time: true}
	strs := rule{kind: array, items: &str}
	phase := rule{kind: integer, bounded: true, min: firstPhase, max: lastPhase}
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
	return &rule{
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
})

// A Violation is the fault at one place of a state.
type Violation struct {
	Pointer string // JSON pointer; "" is the whole state
	Text    string // such as "missing" or "want integer"; never a value
}

// String returns a text such as "/status: unknown value".
func (v Violation) String() string { return v.Pointer + ": " + v.Text }

// report is the result of validate.
type report struct {
	Violations []Violation
	Warnings   []Violation // times without a zone: they count as local
}

// validate checks raw, a session-state.json, against its schema and reports all faults,
// members in their order in the file. Null counts as absent for every member that is not
// required.
func validate(raw []byte) report {
	var r report
	if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
		r.violate("", "not JSON")
		return r
	}
	r.check(pyjson.Trim(raw), "", schema())
	return r
}

func (r *report) violate(pointer, text string) {
	r.Violations = append(r.Violations, Violation{pointer, text})
}

func (r *report) check(raw []byte, pointer string, want *rule) {
	if !want.kind.fits(raw) {
		r.violate(pointer, "want "+kindNames[want.kind])
		return
	}
	switch want.kind {
	case object:
		r.members(raw, pointer, want)
	case array:
		if want.items == nil {
			return
		}
		i := 0
		for item := range pyjson.Elements(raw) {
			r.check(item, pointer+"/"+strconv.Itoa(i), want.items)
			i++
		}
	case text:
		r.text(pyjson.Text(raw), pointer, want)
	case integer:
		if n := numberOf(raw); want.bounded && (n < want.min || n > want.max) {
			r.violate(pointer, fmt.Sprintf("want %v to %v", want.min, want.max))
		}
	}
}

func (r *report) members(raw []byte, pointer string, want *rule) {
	for _, name := range want.required {
		if _, found := pyjson.Lookup(raw, name); !found {
			r.violate(pointer+"/"+name, "missing")
		}
	}
	seen := map[string]bool{}
	for m := range pyjson.Members(raw) {
		name := pyjson.Text(m.Key)
		sub, known := want.member(name)
		if !known || seen[name] {
			continue
		}
		seen[name] = true
		v, _ := pyjson.Lookup(raw, name) // of several the last counts
		if pyjson.KindOf(v) == pyjson.Null && !slices.Contains(want.required, name) {
			continue
		}
		r.check(v, pointer+"/"+escape(name), sub)
	}
}

// member returns the rule for a member of an object, if there is one.
func (want *rule) member(name string) (*rule, bool) {
	if sub, ok := want.members[name]; ok {
		return &sub, true
	}
	return want.rest, want.rest != nil
}

func (r *report) text(s, pointer string, want *rule) {
	switch {
	case want.enum != nil && !slices.Contains(want.enum, s):
		r.violate(pointer, "unknown value")
	case want.pattern != nil && !want.pattern.MatchString(s):
		r.violate(pointer, "want "+want.pattern.String())
	case want.time:
		_, zoned, ok := parseTime(s)
		if !ok {
			r.violate(pointer, "want date-time")
		} else if !zoned {
			r.Warnings = append(r.Warnings, Violation{pointer, "time without zone"})
		}
	}
}

func (k kind) fits(raw []byte) bool {
	got := pyjson.KindOf(raw)
	switch k {
	case object:
		return got == pyjson.Object
	case array:
		return got == pyjson.Array
	case text:
		return got == pyjson.String
	case boolean:
		return got == pyjson.True || got == pyjson.False
	}
	if got != pyjson.Integer && got != pyjson.Float {
		return false
	}
	n := numberOf(raw)
	whole := got == pyjson.Integer || n == math.Trunc(n)
	return !math.IsNaN(n) && !math.IsInf(n, 0) && (k == number || whole)
}

// numberOf returns a number; a number that overflows is infinite.
func numberOf(raw []byte) float64 {
	n, _ := strconv.ParseFloat(string(raw), 64)
	return n
}

// escape returns name as a part of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// parseTime reads an RFC 3339 time, or one without a zone, which is local, as
// Python's datetime.now().isoformat() writes it.
func parseTime(s string) (t time.Time, zoned, ok bool) {
	if err := t.UnmarshalText([]byte(s)); err == nil {
		return t, true, true
	}
	if err := t.UnmarshalText([]byte(s + "Z")); err != nil {
		return time.Time{}, false, false
	}
	u := t
	t = time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), time.Local)
	return t, false, true
}

// withZones returns raw with a zone for each time that has none. raw is valid.
func withZones(raw []byte, want *rule) []byte {
	switch {
	case want.time && pyjson.KindOf(raw) == pyjson.String:
		if t, has, ok := parseTime(pyjson.Text(raw)); ok && !has {
			return pyjson.Quote(t.Format(time.RFC3339Nano))
		}
	case want.kind == object && pyjson.KindOf(raw) == pyjson.Object:
		for name, sub := range want.members {
			if v, found := pyjson.Lookup(raw, name); found {
				if z := withZones(v, &sub); string(z) != string(v) {
					raw = pyjson.Splice(raw, name, z)
				}
			}
		}
	case want.items != nil && pyjson.KindOf(raw) == pyjson.Array:
		var items [][]byte
		for item := range pyjson.Elements(raw) {
			items = append(items, withZones(item, want.items))
		}
		return pyjson.ArrayOf(items)
	}
	return raw
}

// The errors that callers branch on, with [errors.Is].
var (
	ErrVersion       = errors.New("unknown version of session-state.json") // of a newer program; it is left as it is
	ErrNotResumable  = errors.New("session cannot be resumed")
	ErrInvalidPhase  = errors.New("invalid phase")
	ErrInvalidOutput = errors.New("invalid output")
	ErrNotADirectory = errors.New("not a directory of its own") // a symlink or a file
)

// InvalidError lists all faults of a state. It Is [ErrVersion] when the version is another
// one.
type InvalidError struct {
	Violations []Violation
}

// freeNames is the object whose members have names that users choose.
const freeNames = "/user_context/biological_context"

// Error returns the first violation and the number of others. It has no name that a
// user chose, which may be content.
func (e *InvalidError) Error() string {
	first := e.Violations[0]
	if strings.HasPrefix(first.Pointer, freeNames+"/") {
		first = Violation{freeNames, first.Text + " for each member"}
	}
	if n := len(e.Violations) - 1; n > 0 {
		return fmt.Sprintf("invalid state: %s and %d more", first, n)
	}
	return fmt.Sprintf("invalid state: %s", first)
}

// Is reports whether target is [ErrVersion] and the version is unknown.
func (e *InvalidError) Is(target error) bool {
	return target == ErrVersion && slices.Contains(e.Violations, Violation{"/version", "unknown value"})
}

func checkPhase(phase int) error {
	if phase < firstPhase || phase > lastPhase {
		return fmt.Errorf("%w: %d", ErrInvalidPhase, phase)
	}
	return nil
}
