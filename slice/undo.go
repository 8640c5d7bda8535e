package slice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// UndoOptions say how careful [Undo] is.
type UndoOptions struct {
	// Force undoes also when the session went on since, when what it is now
	// cannot be read, and when the backup cannot.
	Force bool
}

// UndoReport tells what [Undo] did.
type UndoReport struct {
	Status       string `json:"status"`           // Undone or NoUndoNeeded
	Messages     int    `json:"restored_entries"` // of the transcript that was brought back
	BackupPath   string `json:"backup_path"`      // the transcript that was there
	EventsBackup string `json:"events_backup_path,omitempty"`
}

// MarshalJSON returns the status alone when nothing was done.
func (r UndoReport) MarshalJSON() ([]byte, error) {
	type report UndoReport
	return marshalReport(r.Status == NoUndoNeeded, r.Status, report(r))
}

// ErrWentOn tells that the conversation went on after what is to be undone.
var ErrWentOn = errors.New("the session went on since")

// Undo brings back a transcript that [RepairSession] or [RewindSession] kept,
// or Undo itself, byte for byte, and the events that were cut with it. backup
// is a name of [Backups], or the path that a report told. What stands there
// is kept the same way, so that Undo can be undone. Events that were logged
// since a rewind stay, behind those that come back. Nothing is written when the
// transcript is that one already.
//
// The error Is [ErrWentOn] when the transcript is not what a repair or a
// rewind leaves of the backup, and not kept under another name either. It Is
// [fs.ErrNotExist] when there is no such backup.
func Undo(ctx context.Context, st *sessionstore.Store, id, backup string, opts *UndoOptions) (UndoReport, error) {
	force := opts != nil && opts.Force
	var report UndoReport
	err := st.Inside().ChangeOwned(ctx, id, func(k *sessionstore.Work) (err error) {
		u := &undoing{change: change{ctx: ctx, st: st, id: id, work: k}, force: force}
		report, err = u.run(backup)
		return err
	})
	if err != nil {
		return UndoReport{}, about("undo change of", id, err)
	}
	return report, nil
}

// undoing is one call of Undo.
type undoing struct {
	change
	force  bool
	backup Backup
	old    []sessionstore.Message // of the backup
}

func (u *undoing) run(name string) (UndoReport, error) {
	if err := u.find(name); err != nil {
		return UndoReport{}, err
	}
	now, _, err := u.work.Transcript()
	if err != nil && !(u.force && errors.Is(err, sessionstore.ErrCorrupt)) {
		return UndoReport{}, err
	}
	same, err := u.isThere()
	if err != nil {
		return UndoReport{}, err
	}
	if same {
		return UndoReport{Status: NoUndoNeeded, Messages: len(u.old)}, nil
	}
	if !u.force {
		if err := u.check(now); err != nil {
			return UndoReport{}, err
		}
	}
	return u.restore()
}

// find finds the backup and reads it.
func (u *undoing) find(name string) error {
	dir := u.work.Dir()
	if path := dir.Path(filepath.Base(name)); path == name {
		name = filepath.Base(name)
	}
	for _, b := range backupsIn(dir) {
		if b.Name == name {
			u.backup = b
		}
	}
	if u.backup.Name == "" {
		return fmt.Errorf("find backup %q: %w", name, errNoBackup)
	}
	var err error
	u.old, err = u.work.Messages(u.backup.Name)
	if u.force && errors.Is(err, sessionstore.ErrCorrupt) {
		return nil
	}
	return err
}

// errNoBackup Is [fs.ErrNotExist], but not the session that is missing.
var errNoBackup = fmt.Errorf("no backup of the transcript has that name: %w", fs.ErrNotExist)

// restore brings the files back.
func (u *undoing) restore() (UndoReport, error) {
	names := []string{sessiondir.Transcript}
	if u.backup.Events != "" {
		names = append(names, eventsFile)
	}
	kept, err := u.keep(labelUndo, names...)
	if err != nil {
		return UndoReport{}, err
	}
	set := func() error { return u.work.Restore(u.backup.Name) }
	if u.backup.Events == "" {
		err = set()
	} else {
		err = u.withEvents(u.events, set)
	}
	if err := kept.unlessChanged(err); err != nil {
		return UndoReport{}, err
	}
	return UndoReport{
		Status: Undone, Messages: len(u.old),
		BackupPath: kept.path(sessiondir.Transcript), EventsBackup: kept.path(eventsFile),
	}, nil
}

// events writes the events of the backup, and those that were logged since the
// log was cut.
func (u *undoing) events(w io.Writer) (err error) {
	old, _, err := u.work.Dir().Open(u.backup.Events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	ended, err := copyLines(u.ctx, w, old)
	if err != nil || u.backup.Label != labelRewind {
		return err
	}
	now, _, err := u.work.Dir().Open(eventsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	if _, err := old.Seek(0, io.SeekStart); err != nil {
		return err
	}
	from, more, err := loggedSince(u.ctx, old, now)
	if err != nil || !more {
		return err
	}
	if !ended {
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	if _, err := now.Seek(from, io.SeekStart); err != nil {
		return err
	}
	_, err = copyLines(u.ctx, w, now)
	return err
}
