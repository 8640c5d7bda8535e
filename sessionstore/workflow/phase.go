package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/show"
)

// SavePhaseOutput saves p and returns the id of the phase's record. A phase has
// one record: a later output replaces status and error, and those of prompt,
// input and output that it has; id, name and time of creation stay. The first
// output of a session gives it the default manifest and the status in_progress,
// where its metadata has none. An error after the write began may leave the
// output saved.
func (l *Log) SavePhaseOutput(ctx context.Context, sessionID string, p PhaseOutput) (int64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	id, err := l.savePhase(ctx, sessionID, p)
	if err == nil {
		return id, nil
	}
	if text := (*textError)(nil); errors.As(err, &text) {
		return 0, err
	}
	return 0, fmt.Errorf("save phase output of session %q: %w", show.ID(sessionID), err)
}

// check reports what is invalid in an output.
func (p PhaseOutput) check() error {
	if !slices.Contains([]string{running, completed, failed}, p.Status) {
		return &textError{text: "Invalid status: " + show.ID(p.Status) + ". Must be 'running', 'completed', or 'failed'"}
	}
	return nil
}

var errOtherSession = errors.New("output is of another session")

func (l *Log) savePhase(ctx context.Context, sessionID string, p PhaseOutput) (id int64, err error) {
	if p.SessionID != nil && *p.SessionID != sessionID {
		return 0, errOtherSession
	}
	err = l.extend(ctx, sessionID, phaseFile, loadPhases, func(tx core.Tx, e *end) (any, error) {
		if len(e.phases) == 0 {
			if err := l.begin(tx); err != nil {
				return nil, err
			}
		}
		r, err := l.recordOf(sessionID, p, e)
		id = r.ID
		return r, err
	})
	return id, err
}

func phaseRecordID(r *PhaseRecord) *int64 { return &r.ID }

func loadPhases(dir *sessiondir.Dir) (end, error) {
	j, tail, err := readJournal(dir, phaseFile, parseLeanPhase, phaseRecordID)
	e := end{Tail: tail, lastID: j.lastID}
	for i := range j.rows {
		e.note(&j.rows[i])
	}
	return e, err
}

// recordOf returns the row that saves p, and takes it into account.
func (l *Log) recordOf(sessionID string, p PhaseOutput, e *end) (PhaseRecord, error) {
	now := l.stamp()
	r := PhaseRecord{
		SessionID: sessionID, PhaseID: string([]rune(p.PhaseID)), // as it reads back
		PhaseName: p.PhaseName, Status: p.Status,
		SystemPrompt: p.SystemPrompt, UserInput: p.UserInput, Output: p.Output, Error: p.Error,
		CreatedAt: now, UpdatedAt: now,
	}
	if first, known := e.phases[r.PhaseID]; known {
		r.ID, r.PhaseName, r.CreatedAt = first.id, first.name, first.created
		return r, nil
	}
	id, err := e.nextID()
	r.ID, e.lastID = id, id
	r.PhaseName = string([]rune(p.PhaseName))
	e.note(&r)
	return r, err
}

// PhaseOutputs returns the records of a session's phases by time of creation,
// then id. A session that does not exist has none. Beside a damaged line all
// others are returned, and an error that Is [sessionstore.ErrCorrupt]. It reads the
// whole log; package phaseindex below reads what is new in it, without prompts.
func (l *Log) PhaseOutputs(ctx context.Context, sessionID string) ([]PhaseRecord, error) {
	j, err := read(ctx, l, sessionID, phaseFile, phaseRecordID)
	return phasesOf(sessionID, j, err)
}

// leanPhases is PhaseOutputs with the letter x in the place of large system prompts. It
// holds the log a line at a time.
func (l *Log) leanPhases(ctx context.Context, sessionID string) ([]PhaseRecord, error) {
	j, err := readBy(ctx, l, sessionID, func(dir *sessiondir.Dir) (journal[PhaseRecord], error) {
		return scanJournal(dir, phaseFile, parseLeanPhase, phaseRecordID)
	})
	return phasesOf(sessionID, j, err)
}

// phasesOf returns the records of a log that was read, in their order.
func phasesOf(sessionID string, j journal[PhaseRecord], err error) ([]PhaseRecord, error) {
	if err != nil {
		return nil, wrapRead("phase outputs", sessionID, err)
	}
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
