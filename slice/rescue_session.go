package slice

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// RescueOptions control [RescueSession]. A nil *RescueOptions is the zero value.
type RescueOptions struct {
	For    []accept.Target // each of them is to accept the messages
	DryRun bool            // write nothing, and take no lock
}

// Fault is a reason why a session does not go on, and how it is mended.
type Fault struct {
	Kind   string        // unreadable, call_without_result, misplaced_result, turn_without_answer or refused
	Line   int           // number of the line or of the message, from 1; 0: it is of no single one
	Reason accept.Reason // why it is refused
	Mend   string        // salvaged, repaired or mended; "": it cannot be mended, and nothing is written
}

// RescueReport describes the work of [RescueSession].
type RescueReport struct {
	Faults     []Fault
	BackupPath string   // the copy of the transcript before; "": nothing was written
	Damaged    []string // where the damaged files are now
}

// RescueSession mends all that keeps session id from going on, in one change: [Undo] takes it
// back whole. Of a transcript with lines that cannot be read it takes all whole messages; where a
// backup is read in its place, those after the messages of the backup. It repairs them as
// [RepairSession] does, then for the targets. It writes nothing unless every fault can be mended.
// It first copies the transcript, byte for byte, and a damaged file stays beside it, too. Metadata
// and events do not change.
//
// The error Is [sessionstore.ErrConflict] when another writer changed the transcript in
// between. After an error of the disk, the transcript is the old or the mended one, complete.
func RescueSession(ctx context.Context, st *sessionstore.Store, id string, opts *RescueOptions) (report RescueReport, err error) {
	o := cmp.Or(opts, &RescueOptions{})
	w, err := wreckOf(ctx, st, id)
	if err == nil {
		report.Faults, _, err = w.plan(o.For)
	}
	if err == nil && !o.DryRun && len(report.Faults) > 0 && allMended(report.Faults) {
		err = core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) (err error) {
			report, err = (&change{ctx: ctx, st: st, id: id, tx: tx}).rescue(o.For)
			return err
		})
	}
	if err != nil {
		return RescueReport{}, wrapError("rescue", id, err)
	}
	return report, nil
}

func allMended(faults []Fault) bool {
	return !slices.ContainsFunc(faults, func(f Fault) bool { return f.Mend == "" })
}

func (c *change) rescue(targets []accept.Target) (report RescueReport, err error) {
	rows, _, damage := c.tx.Transcript()
	if damage != nil && damageOf(damage) == nil {
		return report, damage
	}
	w := wreck{rows: rows, bad: damageOf(damage)}
	w.add(c.tx.Recovered(), func() ([]sessionstore.Message, error) { return c.tx.Messages(sessiondir.Transcript) })
	faults, mended, err := w.plan(targets)
	if report.Faults = faults; err != nil || len(faults) == 0 || !allMended(faults) {
		return report, err
	}
	before, err := c.tx.Dir().Names()
	if err != nil {
		return report, err
	}
	copied, err := c.copyFiles(sessiondir.LabelRepair, sessiondir.Transcript)
	if err != nil {
		return report, err
	}
	if err := copied.dropUnlessChanged(c.tx.SetTranscript(mended)); err != nil {
		return report, err
	}
	copied.noteMade()
	report.BackupPath = copied.path(sessiondir.Transcript)
	now, err := c.tx.Dir().Names()
	for _, name := range now {
		if strings.Contains(name, damagedInfix) && !slices.Contains(before, name) {
			report.Damaged = append(report.Damaged, c.tx.Dir().Path(name))
		}
	}
	return report, err
}

// wreck is a transcript, as far as it can be read.
type wreck struct {
	rows []sessionstore.Message
	bad  *sessionstore.CorruptError // why not all of it can be read; nil: it can
}

// wreckOf reads the transcript of session id without a lock.
func wreckOf(ctx context.Context, st *sessionstore.Store, id string) (wreck, error) {
	s, err := st.Load(ctx, id)
	if s == nil {
		return wreck{}, err
	}
	w := wreck{rows: s.Messages, bad: damageOf(err)}
	if _, torn := st.Metadata(ctx, id); err != nil && w.bad == nil && !errors.Is(torn, sessionstore.ErrCorrupt) {
		return wreck{}, err // the system does not let it be read
	}
	w.add(s.Recovered, func() ([]sessionstore.Message, error) { return core.Of(st).Damaged(ctx, id, sessiondir.Transcript) })
	return w, ctx.Err()
}

// damageOf returns the damage of a transcript in err; nil: there is none.
func damageOf(err error) (bad *sessionstore.CorruptError) {
	if errors.As(err, &bad) && strings.HasPrefix(filepath.Base(bad.Path), sessiondir.Transcript) {
		return bad
	}
	return nil
}

// add adds the messages of the damaged file, which whole reads, that its backup lacks, and
// leaves out what is no JSON object.
func (w *wreck) add(r *sessionstore.Recovery, whole func() ([]sessionstore.Message, error)) {
	if r != nil && filepath.Base(r.Path) == sessiondir.Transcript { // damaged, or an append to it was interrupted
		w.bad = cmp.Or(damageOf(r.Reason), &sessionstore.CorruptError{Path: r.Path, Err: r.Reason})
		all, _ := whole() // it is damaged
		all = objects(all, 0)
		w.rows = slices.Concat(w.rows, all[len(all)-min(r.Beyond, len(all)):])
	}
	if all := objects(w.rows, 0); len(all) < len(w.rows) {
		w.rows, w.bad = all, cmp.Or(w.bad, &sessionstore.CorruptError{Path: sessiondir.Transcript, Err: errNotObject})
	}
}

// plan returns all that keeps the conversation from going on, and the mended messages.
func (w wreck) plan(targets []accept.Target) (faults []Fault, mended []sessionstore.Message, err error) {
	add := func(kind string, line int, reason accept.Reason, mend string) {
		if f := (Fault{kind, line, reason, mend}); !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	if w.bad != nil && len(w.rows) == 0 { // nothing can be read
		add("unreadable", w.bad.Line, "", "")
		return faults, nil, nil
	} else if w.bad != nil {
		add("unreadable", w.bad.Line, "", "salvaged")
	}
	d, err := Diagnose(w.rows)
	if err != nil {
		return nil, nil, err
	}
	for range d.Orphaned {
		faults = append(faults, Fault{"call_without_result", 0, "", "repaired"})
	}
	for range d.Misplaced {
		faults = append(faults, Fault{"misplaced_result", 0, "", "repaired"})
	}
	for _, turn := range d.Incomplete {
		add("turn_without_answer", turn.AfterLine, "", "repaired")
	}
	rows, _, err := repairFor(nil, w.rows, d)
	if err != nil {
		return nil, nil, err
	}
	mended, failed := mendFor(targets, rows)
	if failed == nil { // an answer that a provider refuses may be dropped
		if d, err = Diagnose(mended); err == nil {
			mended, _, failed = repairFor(nil, mended, d)
		}
	}
	mend := "mended"
	if failed != nil {
		mend = ""
	}
	for _, to := range targets {
		for _, r := range to.Check(rows) {
			if !r.Disputed {
				add("refused", r.Row+1, r.Reason, mend)
			}
		}
	}
	return faults, mended, err
}
