package workflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// PhaseOutputs returns the records of a session's phases by time of creation, then id. A
// session that does not exist has none. Beside a damaged line all others are returned, and
// an error that Is [sessionstore.ErrCorrupt]. It reads the whole log; [Workflow.Phases] reads
// only new lines, without prompts.
func (w *Workflow) PhaseOutputs(ctx context.Context, sessionID string) ([]PhaseRecord, error) {
	return w.phaseRecords(ctx, sessionID, textLimits{math.MaxInt, math.MaxInt, math.MaxInt})
}

// phaseRecords is PhaseOutputs with at most so much of each text.
func (w *Workflow) phaseRecords(ctx context.Context, sessionID string, most textLimits) ([]PhaseRecord, error) {
	log := newPhaseLog(sessionID, most)
	if err := w.refresh(ctx, log, nil); err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
		return nil, err
	}
	records := []PhaseRecord{}
	for _, s := range log.sorted() {
		records = append(records, s.PhaseRecord)
	}
	return records, wrapRead("phase outputs", sessionID, log.damage)
}

// refresh is [logReader.refresh] of p.
func (w *Workflow) refresh(ctx context.Context, p *phaseLog, then func(log io.ReadSeeker) error) error {
	err := w.core.Read(ctx, p.session, func(dir *sessiondir.Dir) error { return p.refresh(ctx, dir, then) })
	return wrapRead("phase outputs", p.session, err)
}

// PhaseSummary is a [PhaseRecord] without its two prompts. Of an output, and of an error,
// it has at most 32 KiB, up to the end of a character.
type PhaseSummary struct {
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

// Phases is the result of [Workflow.Phases].
type Phases struct {
	Records []PhaseSummary // by time of creation, then id; empty, not nil, when there are none
	Read    int64          // how many bytes of the log were read: the since of the next call
	Damage  error          // of the first line that is no record, a [*sessionstore.CorruptError]; nil when there is none
}

// Phases returns the phases of a session that changed behind the first since bytes of the
// log: with 0 all of them, with the Read of an earlier call those that changed after it.
// It returns all when the log is shorter than that: it is another log then. A session
// without a log has no phases. A last line that was not written whole is not read yet. The
// error Is [sessionstore.ErrNotFound] when there is no such session.
//
// Prompts stay on the disk until [Workflow.Phase] is asked for one. A call reads only the lines
// appended since the last one, for the eight sessions that were asked for last; it needs
// the memory of the longest line.
func (w *Workflow) Phases(ctx context.Context, sessionID string, since int64) (Phases, error) {
	p := w.phases.of(sessionID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := w.refresh(ctx, p, nil); err != nil {
		return Phases{}, err
	}
	all := Phases{Records: []PhaseSummary{}, Read: p.end.Whole, Damage: p.damage}
	for _, s := range p.sorted() {
		if s.changed > since || since > all.Read {
			all.Records = append(all.Records, s.summary())
		}
	}
	return all, nil
}

func (s *phaseState) summary() PhaseSummary {
	return PhaseSummary{
		s.ID, s.SessionID, s.PhaseID, s.PhaseName, s.Status, s.Output, s.Error, s.CreatedAt, s.UpdatedAt,
		s.hasPrompt || s.hasInput, s.outputSize,
	}
}

// Phase returns the record of that id, as [Workflow.PhaseOutputs] has it: with its prompts and
// all of its output. It reads the lines appended to the log, and the lines that hold the
// texts. The error Is [sessionstore.ErrNotFound] when there is no such record or session.
func (w *Workflow) Phase(ctx context.Context, sessionID string, id int64) (rec PhaseRecord, err error) {
	p := w.phases.of(sessionID)
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	err = w.refresh(ctx, p, func(log io.ReadSeeker) (err error) {
		i := slices.IndexFunc(p.phases, func(s *phaseState) bool { return s.ID == id })
		if found = i >= 0; found {
			rec, err = p.phases[i].whole(log)
		}
		return err
	})
	if err == nil && !found {
		err = limits.Errorf(sessionstore.ErrNotFound, "session %q has no phase output %d", limits.ID(sessionID), id)
	}
	return rec, err
}

// SavePhaseOutput saves p and returns the id of the phase's record. A phase has one record:
// a later output replaces status and error, and also prompt, input and output if it has
// them; id, name and time of creation stay. The first output of a session gives it the
// default manifest and the status in_progress, where its metadata has none. An error after
// the write began may leave the output saved.
func (w *Workflow) SavePhaseOutput(ctx context.Context, sessionID string, p PhaseOutput) (int64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	id, err := w.savePhase(ctx, sessionID, p)
	if err == nil {
		return id, nil
	}
	if limits.IsReference(err) {
		return 0, err
	}
	return 0, fmt.Errorf("save phase output of session %q: %w", limits.ID(sessionID), err)
}

// check returns an error if an output is invalid.
func (p PhaseOutput) check() error {
	if !slices.Contains([]string{running, completed, failed}, p.Status) {
		return limits.Reference(nil, "Invalid status: "+limits.ID(p.Status)+". Must be 'running', 'completed', or 'failed'")
	}
	return nil
}

var errOtherSession = errors.New("output is of another session")

func (w *Workflow) savePhase(ctx context.Context, sessionID string, p PhaseOutput) (id int64, err error) {
	if p.SessionID != nil && *p.SessionID != sessionID {
		return 0, errOtherSession
	}
	err = w.appendRow(ctx, sessionID, &newPhaseLog(sessionID, textLimits{}).logReader, func(tx core.Tx, r *logReader) (any, error) {
		log := r.rows.(*phaseLog)
		if len(log.phases) == 0 {
			if err := w.start(tx); err != nil {
				return nil, err
			}
		}
		rec, err := w.recordOf(sessionID, p, log)
		id = rec.ID
		return rec, err
	})
	return id, err
}

// recordOf returns the row that saves p in a log.
func (w *Workflow) recordOf(sessionID string, p PhaseOutput, log *phaseLog) (r PhaseRecord, err error) {
	now := pytime.Stamp(w.core.Now())
	r = PhaseRecord{
		SessionID: sessionID, PhaseID: string([]rune(p.PhaseID)), // as it reads back
		PhaseName: p.PhaseName, Status: p.Status,
		SystemPrompt: p.SystemPrompt, UserInput: p.UserInput, Output: p.Output, Error: p.Error,
		CreatedAt: now, UpdatedAt: now,
	}
	if first, known := log.byID[r.PhaseID]; known {
		r.ID, r.PhaseName, r.CreatedAt = first.ID, first.PhaseName, first.CreatedAt
		return r, nil
	}
	r.PhaseName = string([]rune(p.PhaseName))
	r.ID, err = log.ids.next()
	return r, err
}
