package slice

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// RepairSession repairs the transcript of session id as [Repair] does. It writes
// nothing when the transcript is healthy. Otherwise it first copies the
// transcript, under the name that the reference uses; [Undo] brings the copy
// back. Metadata and events do not change. If the store syncs, the copy is durable
// before the transcript changes, and the repaired transcript is durable when
// RepairSession returns.
//
// The error Is [sessionstore.ErrCorrupt] and names the line when a line cannot be
// read, even if the backup is good. It Is [sessionstore.ErrConflict] when another
// writer changed the transcript meanwhile. After an error of the disk, the
// transcript is either the old or the repaired one, complete.
func RepairSession(ctx context.Context, st *sessionstore.Store, id string) (RepairReport, error) {
	var report RepairReport
	err := core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) (err error) {
		report, err = (&change{ctx: ctx, st: st, id: id, tx: tx}).repair()
		return err
	})
	if err != nil {
		return RepairReport{}, about("repair", id, err)
	}
	return report, nil
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
	kept, err := c.keep(sessiondir.LabelRepair, sessiondir.Transcript)
	if err != nil {
		return RepairReport{}, err
	}
	if err := kept.unlessChanged(c.tx.SetTranscript(repaired)); err != nil {
		return RepairReport{}, err
	}
	return RepairReport{
		Status: Repaired, Original: d, Verification: v, BackupPath: kept.path(sessiondir.Transcript),
		Counts: RepairCounts{len(rows), len(repaired)},
	}, nil
}
