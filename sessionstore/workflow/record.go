package workflow

import (
	"cmp"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// PhaseOutput is what an agent tells of a phase: the "phase-output" event.
type PhaseOutput struct {
	SessionID    *string `json:"session_id"`
	PhaseID      string  `json:"phase_id"`
	PhaseName    string  `json:"phase_name"`
	Status       string  `json:"status"` // running, completed or failed
	SystemPrompt *string `json:"system_prompt"`
	UserInput    *string `json:"user_input"`
	Output       *string `json:"output"`
	Error        *string `json:"error"`
}

// clone returns a copy that shares no pointer with p.
func (p PhaseOutput) clone() PhaseOutput {
	for _, at := range []**string{&p.SessionID, &p.SystemPrompt, &p.UserInput, &p.Output, &p.Error} {
		if *at != nil {
			text := **at
			*at = &text
		}
	}
	return p
}

// PhaseRecord is what a session keeps of a phase. Times are RFC 3339 in UTC
// with milliseconds.
type PhaseRecord struct {
	ID           int64   `json:"id"`
	SessionID    string  `json:"session_id"`
	PhaseID      string  `json:"phase_id"`
	PhaseName    string  `json:"phase_name"`
	Status       string  `json:"status"`
	SystemPrompt *string `json:"system_prompt"`
	UserInput    *string `json:"user_input"`
	Output       *string `json:"output"`
	Error        *string `json:"error"`
	CreatedAt    string  `json:"created_at"`
	UpdatedAt    string  `json:"updated_at"`
}

// byCreation orders records by time, those with an unreadable one first.
func byCreation(a, b string, idA, idB int64) int {
	return cmp.Or(timeOf(a).Compare(timeOf(b)), cmp.Compare(idA, idB))
}

func timeOf(text string) time.Time {
	t, _, err := pytime.Parse(text)
	if err != nil {
		return time.Time{}
	}
	return t
}
