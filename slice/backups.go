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
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Backup is a copy of a transcript that this package, a salvage or the Python
// tools made before they changed it.
type Backup struct {
	Name   string    // of the file in the session's directory
	Label  string    // the change that it was made for: pre-repair, pre-rewind, pre-salvage or pre-undo
	Time   time.Time // when it was made, in UTC, to the second, but never before the copy before it; the number behind it in Name orders the copies of one second
	Size   int64     // in bytes
	Events string    // name of the copy of the log that belongs to it; empty: none

	number int       // its number among the copies of the same second
	named  time.Time // when the file got its name: older versions and other tools count for each label
}

// Backups returns the copies of session id's transcript, newest first. The backup
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
		if !ok || kept.File != sessiondir.Transcript {
			continue
		}
		stamp, err := dir.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in between
		}
		if err != nil {
			return nil, fmt.Errorf("look at backup: %w", err)
		}
		b := Backup{Name: name, Label: kept.Label, Time: kept.Time, Size: stamp.Size, number: kept.Number, named: stamp.Ctime}
		events := eventsFile + name[len(sessiondir.Transcript):]
		if slices.Contains(names, events) {
			b.Events = events
		}
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b Backup) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.number, a.number), b.named.Compare(a.named), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// copies are copies of files of a session, made before they change.
type copies struct {
	dir    *sessiondir.Dir
	suffix string
	names  []string
	before sessiondir.Stamp // of the transcript
}

// copyFiles copies files of the session under names that are free. Files that do not
// exist are left out. If the store syncs, the copies are durable when keep
// returns.
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
	k := &copies{dir: dir, suffix: suffix}
	if k.before, err = dir.Stat(sessiondir.Transcript); err != nil {
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

// copy copies one file. It gives the log a second name instead, if the file
// system has hard links: the log may be large, it only ever grows at its end, and
// the rewind replaces it by another file.
func (k *copies) copy(name string, sync bool) error {
	if _, err := k.dir.Stat(name); err != nil {
		return err
	}
	if name != eventsFile || k.dir.Link(name, name+k.suffix) != nil {
		return k.dir.Copy(name, name+k.suffix, sync)
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

// drop removes the copies and returns err, joined with the errors of that.
func (k *copies) drop(err error) error {
	for _, name := range k.names {
		err = errors.Join(err, k.dir.Remove(name+k.suffix))
	}
	return err
}

// dropUnlessChanged returns err. If there is an error, and the transcript is still
// the same or was changed by another writer, it removes the copies.
func (k *copies) dropUnlessChanged(err error) error {
	if err == nil {
		return nil
	}
	now, serr := k.dir.Stat(sessiondir.Transcript)
	if serr == nil && now.Same(k.before) || errors.Is(err, sessionstore.ErrConflict) {
		return k.drop(err)
	}
	return err
}
