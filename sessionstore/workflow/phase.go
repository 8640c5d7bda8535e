package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// SavePhaseOutput saves p and returns the id of the phase's record. A phase has
// one record: a later output replaces status and error, and those of prompt,
// input and output that it has; id, name and time of creation stay. The first
// output of a session gives it the default manifest and the status in_progress,
// where its metadata has none. An error after the write began may leave the
// output saved.
func (l *Log) SavePhaseOutput(ctx context.Context, sessionID string, p PhaseOutput) (int64, error) {
	if !slices.Contains([]string{running, completed, failed}, p.Status) {
		return 0, &textError{text: "Invalid status: " + p.Status + ". Must be 'running', 'completed', or 'failed'"}
	}
	id, err := l.savePhase(ctx, sessionID, p)
	if err == nil {
		return id, nil
	}
	if text := (*textError)(nil); errors.As(err, &text) {
		return 0, err
	}
	return 0, fmt.Errorf("save phase output of session %q: %w", sessionID, err)
}

var errOtherSession = errors.New("output is of another session")

func (l *Log) savePhase(ctx context.Context, sessionID string, p PhaseOutput) (id int64, err error) {
	if p.SessionID != nil && *p.SessionID != sessionID {
		return 0, errOtherSession
	}
	md, err := l.session(ctx, sessionID)
	if err != nil {
		return 0, err
	}
	if err := l.start(ctx, sessionID, md); err != nil {
		return 0, err
	}
	err = l.change(ctx, sessionID, phaseFile, func(f *file) error {
		j := parsePhases(f.dir.Path(f.name), f.data)
		r, err := l.recordOf(sessionID, p, &j)
		if err != nil {
			return err
		}
		line, err := encodeRow(r)
		if err != nil {
			return err
		}
		id = r.ID
		return f.append(line, j.whole, j.open)
	})
	return id, err
}

func parsePhases(path string, data []byte) journal[PhaseRecord] {
	return parseJournal(path, data, func(r *PhaseRecord) *int64 { return &r.ID })
}

// recordOf returns the line that saves p.
func (l *Log) recordOf(sessionID string, p PhaseOutput, j *journal[PhaseRecord]) (PhaseRecord, error) {
	now := l.stamp()
	r := PhaseRecord{
		SessionID: sessionID, PhaseID: string([]rune(p.PhaseID)), // as it reads back
		PhaseName: p.PhaseName, Status: p.Status,
		SystemPrompt: p.SystemPrompt, UserInput: p.UserInput, Output: p.Output, Error: p.Error,
		CreatedAt: now, UpdatedAt: now,
	}
	first := slices.IndexFunc(j.rows, func(old PhaseRecord) bool { return old.PhaseID == r.PhaseID })
	if first >= 0 {
		old := j.rows[first]
		r.ID, r.PhaseName, r.CreatedAt = old.ID, old.PhaseName, old.CreatedAt
		return r, nil
	}
	id, err := j.nextID()
	r.ID = id
	return r, err
}

// PhaseOutputs returns the records of a session's phases by time of creation,
// then id. A session that does not exist has none. Beside a damaged line all
// others are returned, and an error that Is [sessionstore.ErrCorrupt].
func (l *Log) PhaseOutputs(ctx context.Context, sessionID string) ([]PhaseRecord, error) {
	data, path, err := l.readExisting(ctx, sessionID, phaseFile)
	if err != nil {
		return nil, wrapRead("phase outputs", sessionID, err)
	}
	j := parsePhases(path, data)
	records := foldPhases(sessionID, j.rows)
	slices.SortStableFunc(records, func(a, b PhaseRecord) int {
		return byCreation(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
	})
	return records, wrapRead("phase outputs", sessionID, j.damage)
}

// foldPhases makes one record of each phase, in order of first save.
func foldPhases(sessionID string, rows []PhaseRecord) []PhaseRecord {
	records := []PhaseRecord{}
	at := map[string]int{}
	for _, row := range rows {
		row.SessionID = sessionID
		i, known := at[row.PhaseID]
		if !known {
			at[row.PhaseID] = len(records)
			records = append(records, row)
			continue
		}
		r := &records[i]
		r.Status, r.Error, r.UpdatedAt = row.Status, row.Error, row.UpdatedAt
		r.SystemPrompt = cmp.Or(row.SystemPrompt, r.SystemPrompt)
		r.UserInput = cmp.Or(row.UserInput, r.UserInput)
		r.Output = cmp.Or(row.Output, r.Output)
	}
	return records
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

// readExisting reads a log of a session, which is empty when there is no such
// session.
func (l *Log) readExisting(ctx context.Context, id, name string) (data []byte, path string, err error) {
	_, err = l.session(ctx, id)
	if text := (*textError)(nil); errors.As(err, &text) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return l.read(id, name)
}
