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
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
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
	p := &phaseLog{session: sessionID, limits: most}
	if err := p.refresh(ctx, w.core, nil); err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
		return nil, err
	}
	records := []PhaseRecord{}
	for _, s := range p.sorted() {
		records = append(records, s.PhaseRecord)
	}
	return records, wrapRead("phase outputs", sessionID, p.damage)
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
	if err := p.refresh(ctx, w.core, nil); err != nil {
		return Phases{}, err
	}
	all := Phases{Records: []PhaseSummary{}, Read: p.read, Damage: p.damage}
	for _, s := range p.sorted() {
		if s.changed > since || since > p.read {
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
	err = p.refresh(ctx, w.core, func(log io.ReadSeeker) (err error) {
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
	err = w.appendRow(ctx, sessionID, phaseFile, loadPhases, func(tx core.Tx, e *logState) (any, error) {
		if len(e.phases) == 0 {
			if err := w.start(tx); err != nil {
				return nil, err
			}
		}
		r, err := w.recordOf(sessionID, p, e)
		id = r.ID
		return r, err
	})
	return id, err
}

func loadPhases(dir *sessiondir.Dir) (e logState, err error) {
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
func (w *Workflow) recordOf(sessionID string, p PhaseOutput, e *logState) (PhaseRecord, error) {
	now := pytime.Stamp(w.core.Now())
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
