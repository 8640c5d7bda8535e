package slice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// UndoOptions say how careful [Undo] is.
type UndoOptions struct {
	// Force makes Undo bring the backup back even if the session went on since,
	// if the transcript cannot be read, or if the backup cannot be read.
	Force bool
}

// Undo brings back a transcript that [RepairSession], [RewindSession],
// [sessionstore.Store.Salvage] or Undo itself copied, byte for byte, and the events that
// were cut with it. backup is a name of [Backups], or the path in a report; "" is the
// newest that is not the same as the transcript, so that Undo takes back the last change.
// Undo first copies the files that it replaces in the same way, so that it can be undone
// itself. Events that were logged since a rewind stay, behind the events that come back.
// Undo writes nothing when the transcript is the same as the backup.
//
// The error Is [ErrWentOn] when no repair, rewind or salvage makes the transcript of the
// backup, and no other backup is the same as it. It Is [fs.ErrNotExist] when there is no
// such backup, or none at all. If the store syncs, the transcript is durable when Undo
// returns.
func Undo(ctx context.Context, st *sessionstore.Store, id, backup string, opts *UndoOptions) (UndoReport, error) {
	if backup == "" {
		return undoLast(ctx, st, id, opts)
	}
	force := opts != nil && opts.Force
	var report UndoReport
	err := core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) (err error) {
		u := &undoing{change: change{ctx: ctx, st: st, id: id, tx: tx}, force: force}
		report, err = u.run(backup)
		return err
	})
	if err != nil {
		return UndoReport{}, wrapError("undo change of", id, err)
	}
	return report, nil
}

// undoLast undoes the last change: it brings back the newest backup that is not the
// transcript already.
func undoLast(ctx context.Context, st *sessionstore.Store, id string, opts *UndoOptions) (report UndoReport, err error) {
	all, err := Backups(ctx, st, id)
	if err == nil && len(all) == 0 {
		err = limits.Errorf(fs.ErrNotExist, "nothing to undo: session %s was neither repaired nor rewound", limits.ID(id))
	}
	for _, b := range all {
		if report, err = Undo(ctx, st, id, b.Name, opts); err != nil || report.Status != NoUndoNeeded {
			break
		}
	}
	return report, err
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
	now, _, err := u.tx.Transcript()
	if err != nil && !(u.force && errors.Is(err, sessionstore.ErrCorrupt)) {
		return UndoReport{}, err
	}
	same, err := isCurrent(u.ctx, u.tx.Dir(), u.backup)
	if err != nil {
		return UndoReport{}, err
	}
	if same {
		return UndoReport{Status: NoUndoNeeded, Messages: len(u.old)}, nil
	}
	if !u.force {
		if err := checkUndo(u.ctx, u.tx, u.backup, u.old, now); err != nil {
			return UndoReport{}, err
		}
	}
	return u.restore()
}

// find finds the backup and reads it.
func (u *undoing) find(name string) error {
	dir := u.tx.Dir()
	if path := dir.Path(filepath.Base(name)); path == name {
		name = filepath.Base(name)
	}
	all, err := backupsIn(dir)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(b Backup) bool { return b.Name == name })
	if at < 0 {
		return fmt.Errorf("find backup %q: %w", limits.Path(name), errNoBackup)
	}
	u.backup = all[at]
	u.old, err = u.tx.Messages(u.backup.Name)
	if u.force && errors.Is(err, sessionstore.ErrCorrupt) {
		return nil
	}
	return err
}

var errNoBackup = limits.Errorf(fs.ErrNotExist, "no backup of the transcript has that name")

// restore copies the files that are there, and then brings the backup back.
func (u *undoing) restore() (UndoReport, error) {
	names := []string{sessiondir.Transcript}
	if u.backup.Events != "" {
		names = append(names, eventsFile)
	}
	copied, err := u.copyFiles(sessiondir.LabelUndo, names...)
	if err != nil {
		return UndoReport{}, err
	}
	set := func() error { return u.tx.Restore(u.backup.Name) }
	if u.backup.Events == "" {
		err = set()
	} else {
		err = u.withEvents(u.events, set)
	}
	if err := copied.dropUnlessChanged(err); err != nil {
		return UndoReport{}, err
	}
	return UndoReport{
		Status: Undone, Messages: len(u.old),
		BackupPath: copied.path(sessiondir.Transcript), EventsBackup: copied.path(eventsFile),
	}, nil
}

// events writes the events of the backup, and those that were logged since the
// log was cut.
func (u *undoing) events(w io.Writer) (err error) {
	old, _, err := u.tx.Dir().Open(u.backup.Events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	ended, err := copyLines(u.ctx, w, old)
	if err != nil || u.backup.Label != sessiondir.LabelRewind {
		return err
	}
	now, _, err := u.tx.Dir().Open(eventsFile)
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

const copyBlock = 256 << 10

// copyLines copies r to w. It reports whether r is empty or ends with a line
// break.
func copyLines(ctx context.Context, w io.Writer, r io.Reader) (ended bool, err error) {
	ended = true
	buf := make([]byte, copyBlock)
	for {
		if err := ctx.Err(); err != nil {
			return ended, err
		}
		n, err := r.Read(buf)
		if n > 0 {
			ended = buf[n-1] == '\n'
			if _, err := w.Write(buf[:n]); err != nil {
				return ended, err
			}
		}
		if errors.Is(err, io.EOF) {
			return ended, nil
		}
		if err != nil {
			return ended, err
		}
	}
}

// loggedSince returns the offset of the first line of the log now that was
// logged after now was cut out of old. It is the first line that old does not
// have, or has only before the lines that were met already. more reports
// whether there is such a line.
func loggedSince(ctx context.Context, old, now io.Reader) (from int64, more bool, err error) {
	a, b := jsonl.NewReader(old), jsonl.NewReader(now)
	for {
		line, err := nextEvent(ctx, b)
		if errors.Is(err, io.EOF) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		for {
			other, err := nextEvent(ctx, a)
			if errors.Is(err, io.EOF) {
				return line.Offset, true, nil
			}
			if err != nil {
				return 0, false, err
			}
			if bytes.Equal(other.Bytes, line.Bytes) {
				break
			}
		}
	}
}

// nextEvent returns the next line that is not blank, without the white space around it. The
// blank lines before it belong to it: its offset is where they begin.
func nextEvent(ctx context.Context, lines *jsonl.Reader) (line jsonl.Line, err error) {
	for offset := int64(-1); err == nil && len(line.Bytes) == 0; line.Offset = offset {
		if err = ctx.Err(); err == nil {
			line, err = lines.Next()
		}
		if line.Bytes = bytes.TrimSpace(line.Bytes); offset < 0 {
			offset = line.Offset
		}
	}
	return line, err
}
