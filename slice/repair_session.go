package slice

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// RepairSession repairs the transcript of session id as [Repair] does, or, for the
// targets that are given, as [accept.Target.Fix] does so that each of them accepts it. It writes
// nothing when the transcript is healthy, or accepted by them. Otherwise it first
// copies the transcript, under the name that the reference uses; [Undo] brings the
// copy back. Metadata and events do not change. If the store syncs, the copy is durable
// before the transcript changes, and the repaired transcript is durable when
// RepairSession returns.
//
// The error Is [sessionstore.ErrCorrupt] and names the line when a line cannot be read,
// even if the backup is good. It Is [sessionstore.ErrConflict] when another writer changed
// the transcript in between. If one target refuses messages that another wants,
// RepairSession returns an error and writes nothing. After an error of the disk, the
// transcript is either the old or the repaired one, complete.
func RepairSession(ctx context.Context, st *sessionstore.Store, id string, targets ...accept.Target) (RepairReport, error) {
	var report RepairReport
	err := core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) (err error) {
		report, err = (&change{ctx: ctx, st: st, id: id, tx: tx}).repair(targets)
		return err
	})
	if err != nil {
		return RepairReport{}, wrapError("repair", id, err)
	}
	return report, nil
}

func (c *change) repair(targets []accept.Target) (RepairReport, error) {
	rows, err := c.rows()
	if err != nil {
		return RepairReport{}, err
	}
	d, err := Diagnose(rows)
	if err != nil {
		return RepairReport{}, err
	}
	repaired, v, err := repairFor(targets, rows, d)
	if err != nil {
		return RepairReport{}, err
	}
	if slices.Equal(repaired, rows) {
		return RepairReport{Status: NoRepairNeeded, Original: d, Verification: d, Counts: RepairCounts{len(rows), len(rows)}}, nil
	}
	copied, err := c.copyFiles(sessiondir.LabelRepair, sessiondir.Transcript)
	if err != nil {
		return RepairReport{}, err
	}
	if err := copied.dropUnlessChanged(c.tx.SetTranscript(repaired)); err != nil {
		return RepairReport{}, err
	}
	copied.noteMade()
	return RepairReport{
		Status: Repaired, Original: d, Verification: v, BackupPath: copied.path(sessiondir.Transcript),
		Counts: RepairCounts{len(rows), len(repaired)},
	}, nil
}

// repairFor returns messages as a repair makes them, or, for targets, as those accept
// them, and their diagnosis. If nothing changes, it returns the same values.
func repairFor(targets []accept.Target, msgs []sessionstore.Message, d Diagnosis) ([]sessionstore.Message, Diagnosis, error) {
	if len(targets) == 0 {
		msgs, err := Repair(msgs, d)
		if err != nil {
			return nil, d, err
		}
		d, err = verified(msgs)
		return msgs, d, err
	}
	msgs, err := mendFor(targets, msgs)
	if err != nil {
		return nil, d, err
	}
	d, err = Diagnose(msgs)
	return msgs, d, err
}

// mendFor mends messages for one target after the other. It returns an error if after
// that one of them refuses messages that the others want.
func mendFor(targets []accept.Target, msgs []sessionstore.Message) ([]sessionstore.Message, error) {
	for _, to := range inOrder(targets) {
		m, err := to.Fix(msgs)
		if err != nil {
			return nil, err
		}
		msgs = m.Messages
	}
	for _, to := range targets {
		left := slices.DeleteFunc(to.Check(msgs), func(r accept.Refusal) bool { return r.Disputed })
		if len(left) > 0 {
			return nil, fmt.Errorf("mend messages for %v: %s", to.Provider, left[0])
		}
	}
	return msgs, nil
}

// inOrder returns targets as a repair goes through them.
func inOrder(targets []accept.Target) []accept.Target {
	return slices.SortedStableFunc(slices.Values(targets), func(a, b accept.Target) int { return cmp.Compare(a.Provider, b.Provider) })
}

// Status says whether a stored session was changed. As JSON it is the reference's.
type Status string

// The statuses of [RepairReport], [RewindReport], [RenameReport] and [UndoReport].
const (
	Repaired       Status = "repaired"
	NoRepairNeeded Status = "no-repair-needed"
	Rewound        Status = "rewound"
	NoRewindNeeded Status = "no-rewind-needed"
	Renamed        Status = "renamed"
	NoRenameNeeded Status = "no-rename-needed"
	Undone         Status = "undone"
	Redone         Status = "redone"
	NoUndoNeeded   Status = "no-undo-needed"
)

// RepairReport describes the work of [RepairSession]. As JSON it is the reference's.
type RepairReport struct {
	Status       Status       `json:"status"`             // Repaired or NoRepairNeeded
	Original     Diagnosis    `json:"original_diagnosis"` // of the transcript before the repair
	Verification Diagnosis    `json:"verification"`       // of the transcript after the repair
	BackupPath   string       `json:"backup_path"`        // the copy of the transcript before the repair
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

// RewindReport describes a rewind of a stored session. As JSON it is the reference's.
type RewindReport struct {
	Status       Status `json:"status"` // Rewound or NoRewindNeeded
	Original     int    `json:"original_entries"`
	Rewound      int    `json:"rewound_entries"`
	BackupPath   string `json:"backup_path"`                  // the copy of the transcript before the rewind
	EventsBackup string `json:"events_backup_path,omitempty"` // the copy of the log before the rewind; empty: the log was not cut
}

// MarshalJSON returns the status alone when nothing was done.
func (r RewindReport) MarshalJSON() ([]byte, error) {
	type report RewindReport
	return marshalReport(r.Status == NoRewindNeeded, r.Status, report(r))
}

// UndoReport describes the work of [Undo] and [Redo].
type UndoReport struct {
	Status       Status  `json:"status"`           // Undone, Redone or NoUndoNeeded
	Messages     int     `json:"restored_entries"` // number of messages of the restored transcript
	BackupPath   string  `json:"backup_path"`      // the copy of the file as it was before; empty: it was missing, or nothing was written
	EventsBackup string  `json:"events_backup_path,omitempty"`
	Name         *string `json:"name,omitempty"` // the name that came back, "": none; nil: the transcript did
}

// MarshalJSON returns the status alone when nothing was done.
func (r UndoReport) MarshalJSON() ([]byte, error) {
	type report UndoReport
	return marshalReport(r.Status == NoUndoNeeded, r.Status, report(r))
}

// marshalReport returns a report in the reference's form: all of it, or, if
// idle is true because nothing was done, its status alone.
func marshalReport(idle bool, status Status, full any) ([]byte, error) {
	if !idle {
		return json.Marshal(full)
	}
	return json.Marshal(struct {
		Status Status `json:"status"`
	}{status})
}
