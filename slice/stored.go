package slice

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What became of a stored session.
const (
	Repaired       = "repaired"
	NoRepairNeeded = "no-repair-needed"
	Rewound        = "rewound"
	NoRewindNeeded = "no-rewind-needed"
	Undone         = "undone"
	NoUndoNeeded   = "no-undo-needed"
)

// RepairReport tells what [RepairSession] did. As JSON it is the reference's.
type RepairReport struct {
	Status       string       `json:"status"`             // Repaired or NoRepairNeeded
	Original     Diagnosis    `json:"original_diagnosis"` // of what was there
	Verification Diagnosis    `json:"verification"`       // of what is there now
	BackupPath   string       `json:"backup_path"`        // what was there
	Counts       RepairCounts `json:"counts"`
}

// RepairCounts are the numbers of messages before and after a repair.
type RepairCounts struct {
	Original int `json:"original_entries"`
	Repaired int `json:"repaired_entries"`
}

// MarshalJSON returns the status alone when nothing was done.
func (r RepairReport) MarshalJSON() ([]byte, error) {
	type report RepairReport
	return marshalReport(r.Status == NoRepairNeeded, r.Status, report(r))
}

// ErrStillBroken tells that a session would not be healthy after a repair or a
// rewind, so that nothing was written.
var ErrStillBroken = errors.New("the result would be broken")

// RepairSession repairs the transcript of session id as [Repair] does. Nothing
// is written when it is healthy. Otherwise a copy of the transcript is kept
// beside it, under the name that the reference gives it, and is durable before
// the transcript changes; [Undo] brings it back. Metadata and events stay.
//
// A transcript with a line that cannot be read is refused, also where its
// backup is good: the error Is [sessionstore.ErrCorrupt] and names the line.
// It Is [sessionstore.ErrConflict] when another writer came between. After an
// error of the disk the repaired transcript may be there, whole.
func RepairSession(ctx context.Context, st *sessionstore.Store, id string) (RepairReport, error) {
	var report RepairReport
	err := st.Inside().ChangeOwned(ctx, id, func(k *sessionstore.Work) (err error) {
		report, err = (&change{ctx: ctx, st: st, id: id, work: k}).repair()
		return err
	})
	if err != nil {
		return RepairReport{}, about("repair", id, err)
	}
	return report, nil
}

// about puts what was done to which session before err, unless its text is the
// reference's.
func about(op, id string, err error) error {
	if text := textError(""); errors.As(err, &text) || errors.Is(err, sessionstore.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%s session %q: %w", op, id, err)
}

// change is a change of a stored session, made as its only writer.
type change struct {
	ctx  context.Context
	st   *sessionstore.Store
	id   string
	work *sessionstore.Work
}

func (c *change) repair() (RepairReport, error) {
	rows, err := c.rows()
	if err != nil {
		return RepairReport{}, err
	}
	d, err := Diagnose(rows)
	if err != nil {
		return RepairReport{}, err
	}
	if d.Healthy() {
		return RepairReport{Status: NoRepairNeeded, Original: d, Verification: d, Counts: RepairCounts{len(rows), len(rows)}}, nil
	}
	repaired, err := Repair(rows, d)
	if err != nil {
		return RepairReport{}, err
	}
	v, err := verified(repaired)
	if err != nil {
		return RepairReport{}, err
	}
	kept, err := c.keep(labelRepair, sessiondir.Transcript)
	if err != nil {
		return RepairReport{}, err
	}
	if err := kept.unlessChanged(c.work.SetTranscript(repaired)); err != nil {
		return RepairReport{}, err
	}
	return RepairReport{
		Status: Repaired, Original: d, Verification: v, BackupPath: kept.path(sessiondir.Transcript),
		Counts: RepairCounts{len(rows), len(repaired)},
	}, nil
}

// verified returns the diagnosis of what is to be written, and an error unless
// it is healthy.
func verified(rows []sessionstore.Message) (Diagnosis, error) {
	d, err := Diagnose(rows)
	if err == nil && !d.Healthy() {
		err = fmt.Errorf("%w: %v", ErrStillBroken, d.Modes)
	}
	return d, err
}

// rows returns the messages of the transcript, each of which can be read.
func (c *change) rows() ([]sessionstore.Message, error) {
	rows, _, err := c.work.Transcript()
	if err != nil {
		return nil, err
	}
	if r := c.work.Recovered(); r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return nil, r.Reason
	}
	for i, m := range rows {
		if m.Role() == "" && pyjson.KindOf(value(m)) != pyjson.Object {
			return nil, c.notObject(i)
		}
	}
	return rows, nil
}

var errNotObject = errors.New("not a JSON object")

// notObject returns the error for the row at index, which is no object.
func (c *change) notObject(index int) error {
	bad := &sessionstore.CorruptError{Path: c.work.Dir().Path(sessiondir.Transcript), Err: errNotObject}
	data, _, err := c.work.Dir().Read(sessiondir.Transcript)
	if err != nil {
		return err
	}
	for line := range jsonl.Lines(data) {
		if len(pyjson.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		if index == 0 {
			bad.Line, bad.Offset = line.Number, line.Offset
			break
		}
		index--
	}
	return bad
}
