package slice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Backup is a copy of a transcript that this package, a salvage or the Python
// tools made before they changed it, or a sync before it took lines away, or of metadata from
// before a rename.
type Backup struct {
	Name   string    // of the file in the session's directory
	Label  string    // the change that it was made for: pre-repair, pre-rewind, pre-salvage, pre-rename, pre-pull, pre-undo, pre-undo-step or pre-redo
	Time   time.Time // when it was made, in UTC, to the second, but never before the copy before it; the number behind it in Name orders the copies of one second
	Size   int64     // in bytes, without Events
	Log    int64     // size of Events in bytes
	Events string    // name of the copy of the log that belongs to it; empty: none

	file   string    // of which it is a copy
	number int       // its number among the copies of the same second
	named  time.Time // when the file got its name: older versions and other tools count for each label
}

// Backups returns the copies of session id's transcript and metadata, newest first. The backup
// that every save makes is not among them.
func Backups(ctx context.Context, st *sessionstore.Store, id string) ([]Backup, error) {
	var found []Backup
	err := core.Of(st).Read(ctx, id, func(d *sessiondir.Dir) (err error) {
		found, err = backupsIn(d)
		return err
	})
	if err != nil {
		return nil, wrapError("list backups of", id, err)
	}
	return found, nil
}

func backupsIn(dir *sessiondir.Dir) ([]Backup, error) {
	names, err := dir.Names()
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	found := []Backup{}
	for _, name := range names {
		kept, ok := sessiondir.ParseKept(name)
		if !ok || kept.File != sessiondir.Transcript && kept.File != sessiondir.Metadata {
			continue
		}
		stamp, err := statRegular(dir, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) {
			continue // removed in between, or a copy of no program
		}
		if err != nil {
			return nil, fmt.Errorf("look at backup: %w", err)
		}
		b := Backup{Name: name, Label: kept.Label, Time: kept.Time, Size: stamp.Size, file: kept.File, number: kept.Number, named: stamp.Ctime}
		events := eventsFile + name[len(kept.File):]
		if kept.File == sessiondir.Transcript && slices.Contains(names, events) {
			if stamp, err := statRegular(dir, events); err == nil {
				b.Events, b.Log = events, stamp.Size
			}
		}
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b Backup) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.number, a.number), b.named.Compare(a.named), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// statRegular returns the stamp of a file. The error Is [vfs.ErrNotRegular] for anything else.
func statRegular(dir *sessiondir.Dir, name string) (sessiondir.Stamp, error) {
	fi, err := dir.Root().Lstat(name)
	if err != nil {
		return sessiondir.Stamp{}, err
	}
	if !fi.Mode().IsRegular() {
		return sessiondir.Stamp{}, vfs.ErrNotRegular
	}
	return dir.StampIn(fi), nil
}

// DropBackups removes the copies of session id, those of its log too, and returns them as they
// were. What they kept comes back by no undo and no redo then. The copies of a session with no
// message stay: they tell that it was rewound to nothing, or are all that is left of it. When the
// transcript or the metadata cannot be read whole, DropBackups removes nothing and returns an
// error. A later salvage may bring back what was rewound, where the copy told it not to. After
// another error it returns those that it removed, the last with Size 0 if only its log was. If
// the store syncs, the removal is durable.
func DropBackups(ctx context.Context, st *sessionstore.Store, id string) (dropped []Backup, err error) {
	err = core.Of(st).ChangeOwned(ctx, id, func(tx core.Tx) error {
		messages, dir := 0, tx.Dir()
		if now, err := dir.Stat(sessiondir.Transcript); err == nil && now.Size == 0 {
			return nil
		}
		err := tx.Scan(func(sessionstore.Message) { messages++ })
		if r := tx.Recovered(); err == nil && r != nil {
			err = r.Reason
		}
		if _, merr := tx.Metadata(); cmp.Or(err, merr) != nil {
			return fmt.Errorf("%w: the copies stay until the session is repaired or salvaged", cmp.Or(err, merr))
		}
		if messages == 0 {
			return nil
		}
		all, err := backupsIn(dir)
		for _, b := range slices.Backward(all) { // oldest first
			if err == nil && b.Events != "" {
				err = dir.Remove(b.Events)
			}
			if err != nil {
				break
			}
			if err = dir.Remove(b.Name); err != nil && b.Events == "" {
				break
			}
			if err != nil {
				b.Size = 0
			}
			tx.Renamed(b.Name)
			dropped = append(dropped, b)
		}
		if err != nil && len(dropped) > 0 && core.Of(st).Syncs() {
			err = errors.Join(err, dir.Sync())
		}
		return err
	})
	if err != nil {
		err = wrapError("drop copies of", id, err)
	}
	return dropped, err
}

// copies are copies of files of a session, made before they change.
type copies struct {
	dir    *sessiondir.Dir
	suffix string
	names  []string
	file   string           // the first file
	before sessiondir.Stamp // of it
	logged bool             // the log has its new content
}

// copyFiles copies files of the session under names that are free. Files that do not
// exist, nor their backups, are left out; the first one must exist, unless the change is forced. If the store syncs,
// the copies are durable when keep returns.
func (c *change) copyFiles(label string, names ...string) (*copies, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	dir, store := c.tx.Dir(), core.Of(c.st)
	dir.Sweep()
	dir.SweepFile(eventsFile)
	suffix, err := dir.KeptSuffix(label, store.Now())
	if err != nil {
		return nil, err
	}
	k := &copies{dir: dir, suffix: suffix, file: names[0]}
	if k.before, err = dir.Stat(k.file); err != nil && !(c.force && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	for _, name := range names {
		err := k.copy(name, store.Syncs())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, k.drop(fmt.Errorf("keep %s: %w", name, err))
		}
		k.names = append(k.names, name)
		c.tx.Renamed(name + k.suffix)
	}
	if store.Syncs() {
		if err := dir.Sync(); err != nil {
			return nil, k.drop(fmt.Errorf("sync directory: %w", err))
		}
	}
	if err := c.ctx.Err(); err != nil {
		return nil, k.drop(err)
	}
	return k, nil
}

// copy copies one file, or its backup where it is missing. It gives the log a second name instead, if the file
// system has hard links: the log may be large, it only ever grows at its end, and
// the rewind replaces it by another file.
func (k *copies) copy(name string, sync bool) error {
	from := name
	_, err := k.dir.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		from = sessiondir.Backup(name)
		_, err = k.dir.Stat(from)
	}
	if err != nil {
		return err
	}
	if name != eventsFile || k.dir.Link(name, name+k.suffix) != nil {
		return k.dir.Copy(from, name+k.suffix, sync)
	}
	if !sync {
		return nil
	}
	file, err := k.dir.Edit(name + k.suffix)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// path returns the path of the copy of a file, or "" if there is none.
func (k *copies) path(name string) string {
	for _, has := range k.names {
		if has == name {
			return k.dir.Path(name + k.suffix)
		}
	}
	return ""
}

// noteMade gives the copy of the first file a time that tells what the change made of the file: by
// that Undo knows it again.
func (k *copies) noteMade() {
	if mark, err := markOf(k.dir, k.file); err == nil {
		_ = k.dir.SetTime(k.file+k.suffix, mark) // without it, Undo compares what was made
	}
}

// drop removes the copies and returns err, joined with the errors of that.
func (k *copies) drop(err error) error {
	for _, name := range k.names {
		err = errors.Join(err, k.dir.Remove(name+k.suffix))
	}
	return err
}

// dropUnlessChanged returns err. If there is an error, and the first file is still
// the same or was changed by another writer, it brings the log back and removes the copies.
func (k *copies) dropUnlessChanged(err error) error {
	if err == nil {
		return nil
	}
	now, serr := k.dir.Stat(k.file)
	if now.Same(k.before) && (serr == nil || errors.Is(serr, fs.ErrNotExist)) || errors.Is(err, sessionstore.ErrConflict) {
		return k.drop(errors.Join(err, k.bringLogBack()))
	}
	return err
}

// bringLogBack gives the copy of the log the name of the log, if that has its new content. It is
// no copy to drop then, nor when that fails.
func (k *copies) bringLogBack() error {
	at := slices.Index(k.names, eventsFile)
	if at < 0 || !k.logged {
		return nil
	}
	k.names = slices.Delete(k.names, at, at+1)
	return k.dir.Rename(eventsFile+k.suffix, eventsFile)
}
