package slice

import (
	"bytes"
	"cmp"
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
	// if the transcript cannot be read or is missing, or if the backup cannot be read.
	Force bool
}

// Undo takes back the last change of session id that was not taken back yet, by whatever
// program it was: it brings back the file that was copied before the change, byte for byte,
// and the events that were cut with it; after a rename, the name alone. So a second Undo takes
// back the change before that, and [Redo] goes the other way. Undo first copies the files that
// it replaces. Events that were logged since a rewind stay, after the events that come back.
// See the package comment.
//
// backup, a name of [Backups] or the path in a report, chooses another copy to bring back.
// Unless Undo or Redo would have brought it, that is a change of its own. Undo writes nothing
// when the file is the same as that copy.
//
// The error Is [ErrWentOn] when no change makes the transcript of the copy, and no other
// copy is the same as it. What another program wrote in place after a pull is not seen: Undo of
// the pull succeeds, and keeps it in a copy named pre-undo-step. The error Is [fs.ErrNotExist] when there is nothing to undo, or no such
// backup. If the store syncs, the file is durable when Undo returns.
func Undo(ctx context.Context, st *sessionstore.Store, id, backup string, opts *UndoOptions) (UndoReport, error) {
	return undoWith(ctx, st, id, opts, func(u *undoing) error { return u.choose(backup) })
}

// Redo makes the last change again that [Undo] took back, byte for byte, and takes the last
// Undo back with that. It first copies the files that it replaces. The error Is
// [fs.ErrNotExist] when there is nothing to redo: nothing was undone, or the file was changed
// since. What was undone then is still among the [Backups], and so are, after a Redo, the events
// that were logged since the undo. If the store syncs, the file is
// durable when Redo returns.
func Redo(ctx context.Context, st *sessionstore.Store, id string) (UndoReport, error) {
	return undoWith(ctx, st, id, &UndoOptions{Force: true}, (*undoing).chooseRedo) // no write since is lost
}

func undoWith(ctx context.Context, st *sessionstore.Store, id string, opts *UndoOptions, choose func(*undoing) error) (UndoReport, error) {
	var report UndoReport
	o := cmp.Or(opts, &UndoOptions{})
	err := core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) (err error) {
		u := &undoing{change: change{ctx: ctx, st: st, id: id, tx: tx, force: o.Force}}
		report, err = u.run(choose)
		return err
	})
	if err != nil {
		return UndoReport{}, wrapError("undo change of", id, err)
	}
	return report, nil
}

// undoing is one call of Undo or Redo.
type undoing struct {
	change
	all    []Backup // newest first
	at     position
	label  string                 // of the copies that it makes
	backup Backup                 // to bring back
	old    []sessionstore.Message // of the backup
	turns  int                    // of the transcript
}

func (u *undoing) run(choose func(*undoing) error) (report UndoReport, err error) {
	if u.all, err = backupsIn(u.tx.Dir()); err != nil {
		return report, err
	}
	files := contents{u.ctx, u.tx.Dir()}
	if u.at, err = files.position(u.all); err != nil {
		return report, err
	}
	if err := choose(u); err != nil {
		return report, err
	}
	is, err := files.follows(u.backup.Name, u.backup.file)
	if err != nil {
		return report, err
	}
	switch {
	case u.backup.file == sessiondir.Metadata && is == same:
		return UndoReport{Status: NoUndoNeeded}, nil
	case u.backup.file == sessiondir.Metadata:
		return u.rename(files)
	}
	known := u.made()
	damaged := func(err error) bool { return (u.force || known) && errors.Is(err, sessionstore.ErrCorrupt) }
	err = u.tx.Scan(func(m sessionstore.Message) { u.turns += CountTurns([]sessionstore.Message{m}) })
	if err == nil || damaged(err) {
		u.old, err = u.tx.Messages(u.backup.Name)
	}
	if err != nil && !damaged(err) {
		return report, err
	}
	report.Messages = len(u.old)
	if is == same {
		return UndoReport{Status: NoUndoNeeded, Messages: report.Messages}, nil
	}
	if !u.force && !known {
		if err := u.checkFound(); err != nil {
			return report, err
		}
	}
	return u.restore(report)
}

// choose chooses the copy of that name, or what undo brings next.
func (u *undoing) choose(name string) error {
	if path := u.tx.Dir().Path(filepath.Base(name)); path == name {
		name = filepath.Base(name)
	}
	named := func(b Backup) bool { return b.Name == name }
	next, at := last(u.at.undo), slices.IndexFunc(u.all, named)
	switch {
	case name == "" && len(u.all) == 0:
		return limits.Errorf(fs.ErrNotExist, "nothing to undo: session %s was neither repaired nor rewound nor renamed, or what was kept was dropped", limits.ID(u.id))
	case name == "" && next.Name == "":
		return limits.Errorf(fs.ErrNotExist, "nothing to undo: every change of session %s was taken back", limits.ID(u.id))
	case name == "" || name == next.Name:
		u.backup, u.label = next, sessiondir.LabelBack
	case name == last(u.at.redo).Name:
		u.backup, u.label = last(u.at.redo), sessiondir.LabelForth
	case at < 0:
		return fmt.Errorf("find backup %q: %w", limits.Path(name), errNoBackup)
	default:
		u.backup, u.label = u.all[at], sessiondir.LabelUndo
	}
	return nil
}

// chooseRedo chooses what redo brings next.
func (u *undoing) chooseRedo() error {
	u.backup, u.label = last(u.at.redo), sessiondir.LabelForth
	if u.backup.Name == "" {
		return limits.Errorf(fs.ErrNotExist, "nothing to redo: no change of session %s was taken back, or it was changed since", limits.ID(u.id))
	}
	return nil
}

var errNoBackup = limits.Errorf(fs.ErrNotExist, "no backup of the session has that name")

// restore copies the files that are there, and then brings the backup back.
func (u *undoing) restore(report UndoReport) (UndoReport, error) {
	names := []string{sessiondir.Transcript}
	if u.backup.Events != "" {
		names = append(names, eventsFile)
	}
	copied, err := u.copyFiles(u.label, names...)
	if err != nil {
		return UndoReport{}, err
	}
	set := func() error { return u.tx.Restore(u.backup.Name) }
	if u.backup.Events == "" {
		err = set()
	} else {
		err = u.withEvents(copied, u.events, set)
	}
	if err := copied.dropUnlessChanged(err); err != nil {
		return UndoReport{}, err
	}
	copied.noteMade()
	report.Status = u.status()
	report.BackupPath, report.EventsBackup = copied.path(sessiondir.Transcript), copied.path(eventsFile)
	return report, nil
}

func (u *undoing) status() Status {
	if u.label == sessiondir.LabelForth {
		return Redone
	}
	return Undone
}

// events writes the events of the backup, and those that were logged since the
// log was cut.
func (u *undoing) events(w io.Writer) (err error) {
	whole, later, err := u.logs()
	if err != nil {
		return err
	}
	old, _, err := u.tx.Dir().Open(whole)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	ended, err := copyLines(u.ctx, w, old)
	if err != nil || later == "" {
		return err
	}
	now, _, err := u.tx.Dir().Open(later)
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

// logs returns the log whose events come back, and the one with those that were logged since,
// "" for none. An undo of an older program that was killed left the log cut, so that a redo kept
// it cut: the copy from before the rewind has the whole one.
func (u *undoing) logs() (whole, later string, err error) {
	switch u.backup.Label {
	case sessiondir.LabelRewind:
		return u.backup.Events, eventsFile, nil
	case sessiondir.LabelForth:
		for _, b := range u.all {
			if b.Label != sessiondir.LabelRewind || b.Log <= u.backup.Log {
				continue
			}
			is, err := contents{u.ctx, u.tx.Dir()}.follows(b.Name, u.backup.Name)
			if err != nil || is == same {
				return b.Events, u.backup.Events, err
			}
		}
	}
	return u.backup.Events, "", nil
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
