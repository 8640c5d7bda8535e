package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// SalvageReport is the result of [Store.Salvage], with further files that it found.
type SalvageReport struct {
	Rows  int           // messages that became part of the transcript; 0: nothing was written
	From  string        // the damaged file that holds them; empty when Rows is 0
	Kept  string        // a copy of the transcript as it was before; empty when Rows is 0
	Forks []SalvageFork // files whose messages only fit into a session of their own, newest first
}

// Salvage adds to the transcript whole messages of a damaged file that [Store.Load] does
// not return: a torn last line costs that line, while Load falls back to the backup,
// which may be a whole save behind.
//
// Salvage looks at the damaged transcript.jsonl itself, and at the files that saves have
// put aside as transcript.jsonl.damaged-<time>, newest first. It takes the first that
// continues the transcript: its messages begin with all messages of the transcript. The
// messages after them are added in their order. Lines that cannot be read, or hold no
// JSON object, are left out, wherever they are. A file does not continue the transcript
// when a message in it differs or is unreadable at a place where the transcript has one,
// or when the transcript was shortened since the file was put aside. When both
// transcript.jsonl and its backup are damaged there is no transcript to continue. The
// report then offers the file as a fork, if it has messages that the transcript lacks. It
// also offers another device's version of the transcript, which a program that copies
// folders left beside it. The report of a session that lost nothing is the zero
// SalvageReport.
//
// When Salvage returns nil, the transcript is as durable as after [Store.Append]. No
// damaged byte goes away: a damaged transcript.jsonl is put aside. The former transcript
// is kept as transcript.jsonl.bak-pre-salvage-<time>, which Undo of package slice brings
// back. Metadata stays as it is.
//
// While there is a marker of another tool's append, also of an append that was killed,
// Salvage fails and changes nothing; the next save clears the marker. The error Is
// [ErrConflict] when another writer came between.
func (st *Store) Salvage(ctx context.Context, id string) (report SalvageReport, err error) {
	tx, err := st.begin(ctx, "salvage", id, owns)
	if err != nil {
		return SalvageReport{}, err
	}
	defer tx.end(&err)
	for tx.next(&err) {
		report, err = tx.salvage()
	}
	if err != nil {
		return SalvageReport{}, err
	}
	return report, nil
}

func (tx *transaction) salvage() (SalvageReport, error) {
	t, err := tx.existing(tx.metadata().md)
	if err != nil {
		return SalvageReport{}, err
	}
	if t.appendPending {
		return SalvageReport{}, errAppending
	}
	found, err := tx.damagedFiles(t)
	if err != nil {
		return SalvageReport{}, err
	}
	if t.damage != nil { // the messages of t are only the rest of a transcript
		return SalvageReport{Forks: forks(found, nil)}, nil
	}
	at, err := tx.continued(t, found)
	if err != nil {
		return SalvageReport{}, err
	}
	if at < 0 {
		return SalvageReport{Forks: forks(found, t.rows)}, nil
	}
	if err := tx.ctx.Err(); err != nil {
		return SalvageReport{}, err
	}
	report, more := SalvageReport{From: found[at].path}, rowsBeyond(found[at].rows, t.rows)
	if report.Kept, err = tx.addSalvaged(t, more); err != nil {
		return SalvageReport{}, err
	}
	report.Rows = len(more)
	if found[at].name == sessiondir.Transcript {
		report.From = t.recovered.Kept // where it was put aside
	}
	aside, err := quarantinedFiles(tx.dir)
	copies, cerr := conflictCopies(tx.dir)
	report.Forks = forks(append(aside, copies...), slices.Concat(t.rows, more))
	return report, joinErrors(err, cerr)
}

// continued returns the place of the first file that continues t, or -1.
func (tx *transaction) continued(t *transcript, found []damagedFile) (int, error) {
	for i := range found {
		if ok, err := tx.continues(t, &found[i]); ok || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// continues reports whether the messages of k begin with the messages of t and go on, and
// t was not shortened since k was the transcript.
func (tx *transaction) continues(t *transcript, k *damagedFile) (bool, error) {
	switch {
	case k.sound || len(rowsBeyond(k.rows, t.rows)) == 0:
		return false, nil
	case k.name == sessiondir.Transcript:
		return true, nil
	case len(t.rows) == 0:
		return false, nil
	}
	if shortened, err := rewound(tx.dir, k.at); shortened || err != nil {
		return false, err
	}
	// A save of fewer messages leaves the removed messages in the backup.
	backup := readFile(tx.dir, sessiondir.Backup(sessiondir.Transcript))
	before := backup.parseRows()
	return !backup.sound() || len(before) <= len(t.rows), nil
}

// addSalvaged adds more to the transcript t. It keeps a copy of t, and returns the path
// of the copy.
func (tx *transaction) addSalvaged(t *transcript, more []Message) (kept string, err error) {
	name, err := tx.keepCopy(sessiondir.LabelSalvage, t)
	if err != nil {
		return "", fmt.Errorf("keep the transcript: %w", err)
	}
	err = tx.add(t, more)
	if overtaken(err) {
		return "", joinErrors(tx.conflict(sessiondir.Transcript, err), tx.dir.Remove(name))
	}
	if err != nil {
		if now, serr := tx.dir.Stat(sessiondir.Transcript); serr == nil && now.Same(t.main.stamp) {
			err = joinErrors(err, tx.dir.Remove(name))
		}
		return "", err
	}
	tx.s.invalidate() // a damaged file may hold what no save would store
	return tx.dir.Path(name), nil
}

// keepCopy copies the file that t was read from to a name of its own, in the form that
// the reference's tools use, and makes the copy durable if the store is durable.
func (tx *transaction) keepCopy(label string, t *transcript) (name string, err error) {
	suffix, err := tx.dir.KeptSuffix(label, tx.st.opts.Now())
	if err != nil {
		return "", err
	}
	name = sessiondir.Transcript + suffix
	from := t.main.name
	if t.from == fromBackup {
		from = t.backup.name
	}
	if err := tx.dir.Copy(from, name, tx.sync()); err != nil {
		return "", err
	}
	tx.namesChanged = true
	tx.wrote = append(tx.wrote, name)
	if !tx.sync() {
		return name, nil
	}
	if err := tx.syncNames(); err != nil {
		return "", joinErrors(err, tx.dir.Remove(name))
	}
	return name, nil
}

// restoreFrom writes the bytes of the file name as the transcript in the place
// of t. The error is one of [overtaken] when another writer came between.
func (tx *transaction) restoreFrom(t *transcript, name string) error {
	src, at, err := tx.dir.Open(name)
	if err != nil {
		return err
	}
	tx.dir.Sweep()
	set := writtenAt(t.main.stamp.Mtime)
	if at.Size == 0 {
		if set, err = tx.dir.MarkEmpty(t.main.stamp.Mtime, tx.sync()); err != nil {
			return errors.Join(err, src.Close())
		}
	}
	done, err := tx.replace(sessiondir.Transcript, commit.Replacement{
		Was:  t.main.stamp,
		Time: set,
		Write: func(out io.Writer) error {
			_, err := src.Seek(0, io.SeekStart)
			if err == nil {
				_, err = io.Copy(out, src)
			}
			return err
		},
		Rotate: func() (bool, error) { return tx.rotateTranscript(t) },
	})
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	tx.s.invalidate()
	if t.appendPending {
		if err := tx.removeMarker(); err != nil {
			return err
		}
	}
	if done.Displaced {
		return errDisplaced
	}
	return nil
}
