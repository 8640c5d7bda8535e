package phaseindex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// Record is a [workflow.PhaseRecord] without its two prompts. An output or an error
// of more than [MaxOutput] bytes is cut.
type Record struct {
	ID         int64   `json:"id"`
	SessionID  string  `json:"session_id"`
	PhaseID    string  `json:"phase_id"`
	PhaseName  string  `json:"phase_name"`
	Status     string  `json:"status"`
	Output     *string `json:"output"`
	Error      *string `json:"error"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	HasPrompts bool    `json:"has_prompts"` // one of the two is there and not empty
	OutputSize int     `json:"output_size"` // in bytes, of the whole output
}

// MaxOutput is how many bytes of an output, and of an error, a Record has at most.
// It is cut at the end of a character.
const MaxOutput = 32 << 10

// span is a line in the log; the zero span is none.
type span struct {
	offset int64
	size   int
}

// entry is a phase as the lines up to now tell it.
type entry struct {
	Record
	changed int64 // offset behind its last line
	created time.Time

	// The lines that the members of the whole record are in.
	prompt, input, output, last span

	promptText, inputText bool // they are more than empty
}

// row is a line of the log, without the texts of its prompts.
type row struct {
	workflow.PhaseRecord
	promptText, inputText bool
}

// small is the size of a line up to which it is not worth leaving anything out.
const small = 4 << 10

// parseRow reads a line; ok is false when it is no record. What encoding/json
// reads of it is everything but the texts of the prompts.
func parseRow(line []byte) (r row, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return r, false
	}
	if len(line) > small && pyjson.Check(line, pyjson.Tolerant) == nil {
		line = withoutPrompts(line)
	}
	if json.Unmarshal(line, &r.PhaseRecord) != nil {
		return r, false
	}
	r.promptText, r.inputText = isText(r.SystemPrompt), isText(r.UserInput)
	return r, true
}

func isText(s *string) bool { return s != nil && *s != "" }

// withoutPrompts returns the object with the letter x in the place of texts.
func withoutPrompts(obj []byte) []byte {
	out := make([]byte, 0, small)
	out = append(out, '{')
	for m := range pyjson.Members(obj) {
		value := m.Value
		if large := len(value) > small && value[0] == '"'; large && isPrompt(m.Key) {
			value = []byte(`"x"`)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.Key...), ':'), value...)
	}
	return append(out, '}')
}

func isPrompt(key []byte) bool {
	return pyjson.KeyIs(key, "system_prompt") || pyjson.KeyIs(key, "user_input")
}

// take changes the entry by a row that stands at the span.
func (e *entry) take(r row, at span) {
	if e.last == (span{}) {
		e.ID, e.PhaseID, e.PhaseName, e.CreatedAt = r.ID, r.PhaseID, r.PhaseName, r.CreatedAt
		e.created = timeOf(r.CreatedAt)
	}
	e.Status, e.UpdatedAt, e.last = r.Status, r.UpdatedAt, at
	e.Error = clip(r.Error)
	if r.SystemPrompt != nil {
		e.prompt, e.promptText = at, r.promptText
	}
	if r.UserInput != nil {
		e.input, e.inputText = at, r.inputText
	}
	if r.Output != nil {
		e.output, e.Output, e.OutputSize = at, clip(r.Output), len(*r.Output)
	}
	e.HasPrompts = e.promptText || e.inputText
	e.changed = at.offset + int64(at.size)
}

// clip cuts a text at the end of a character, and lets go of the rest.
func clip(s *string) *string {
	if s == nil || len(*s) <= MaxOutput {
		return s
	}
	n := MaxOutput
	for !utf8.RuneStart((*s)[n]) {
		n--
	}
	cut := string([]byte((*s)[:n]))
	return &cut
}

func timeOf(text string) time.Time {
	t, _, err := pytime.Parse(text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// byCreation is the order of [workflow.Log.PhaseOutputs].
func byCreation(a, b *entry) int {
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.ID, b.ID))
}
