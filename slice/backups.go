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
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Backup is a copy of a transcript that this package, a salvage or the Python
// tools made before they changed it.
type Backup struct {
	Name   string    // of the file in the session's directory
	Label  string    // what it was made before: pre-repair, pre-rewind, pre-salvage or pre-undo
	Time   time.Time // when it was made, in UTC, to the second; the number behind it in Name orders the copies of one second
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
		return nil, about("list backups of", id, err)
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
			continue // removed meanwhile
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
