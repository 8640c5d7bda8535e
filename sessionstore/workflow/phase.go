package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
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
	return 0, fmt.Errorf("save phase output of session %q: %w", limits.ID(sessionID), err)
}

// check reports what is invalid in an output.
func (p PhaseOutput) check() error {
	if !slices.Contains([]string{running, completed, failed}, p.Status) {
		return &textError{text: "Invalid status: " + limits.ID(p.Status) + ". Must be 'running', 'completed', or 'failed'"}
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

func loadPhases(dir *sessiondir.Dir) (e end, err error) {
	e.Tail, err = dir.ReadLog(phaseFile, func(line jsonl.Line) bool {
		r, ok := parsePhase(line.Bytes)
		if ok {
			e.note(r.text(rowPhase), phase{e.ids.of(r.id), r.text(rowName), r.text(rowCreated)})
		}
		return ok
	}, func(jsonl.Line) { e.ids.skip() })
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
	id, err := e.ids.next()
	r.ID = id
	r.PhaseName = string([]rune(p.PhaseName))
	e.note(r.PhaseID, phase{r.ID, r.PhaseName, r.CreatedAt})
	return r, err
}
