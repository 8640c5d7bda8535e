package slice

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Backup is a transcript that was kept before it was changed, by this package
// or by the Python tools.
type Backup struct {
	Name   string    // of the file in the session's directory
	Label  string    // what it was kept before: pre-repair, pre-rewind or pre-undo
	Time   time.Time // when, in UTC, in seconds
	Size   int64     // in bytes
	Events string    // the log that was kept with it; empty: none

	number int // among those of the same second
}

// Backups returns the kept transcripts of session id, newest first. The files
// that every save keeps are not among them.
func Backups(ctx context.Context, st *sessionstore.Store, id string) ([]Backup, error) {
	var found []Backup
	err := st.Inside().Read(ctx, id, func(d *sessiondir.Dir) error {
		found = backupsIn(d)
		return nil
	})
	if err != nil {
		return nil, about("list backups of", id, err)
	}
	return found, nil
}

var backupName = regexp.MustCompile(`^` + regexp.QuoteMeta(sessiondir.Transcript+keepInfix) + `(.+?)-(\d{14})(?:-(\d+))?$`)

func backupsIn(dir *sessiondir.Dir) []Backup {
	found := []Backup{}
	for _, name := range dir.Names() {
		part := backupName.FindStringSubmatch(name)
		if part == nil {
			continue
		}
		at, err := time.Parse(keepStamp, part[2])
		stamp, serr := dir.Stat(name)
		if err != nil || serr != nil {
			continue
		}
		b := Backup{Name: name, Label: part[1], Time: at, Size: stamp.Size}
		b.number, _ = strconv.Atoi(part[3]) // the first has none
		events := eventsFile + name[len(sessiondir.Transcript):]
		if _, err := dir.Stat(events); err == nil {
			b.Events = events
		}
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b Backup) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.number, a.number), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// isThere reports whether the transcript is the backup.
func (u *undoing) isThere() (bool, error) {
	now, _, err := u.work.Dir().Read(sessiondir.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	old, _, err := u.work.Dir().Read(u.backup.Name)
	return bytes.Equal(now, old), err
}

// check refuses a transcript that would be found nowhere but in what this Undo
// keeps: what was said after the change.
func (u *undoing) check(now []sessionstore.Message) error {
	if r := u.work.Recovered(); r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return r.Reason
	}
	if leads(u.old, now) {
		return nil
	}
	data, _, err := u.work.Dir().Read(sessiondir.Transcript)
	if err != nil {
		return err
	}
	for _, b := range backupsIn(u.work.Dir()) {
		if b.Size != int64(len(data)) {
			continue
		}
		other, _, err := u.work.Dir().Read(b.Name)
		if err == nil && bytes.Equal(other, data) {
			return nil
		}
	}
	return ErrWentOn
}

// leads reports whether a repair or a rewind makes now of old, ours or the
// reference's.
func leads(old, now []sessionstore.Message) bool {
	d, err := Diagnose(old)
	if err != nil {
		return false
	}
	for _, f := range []func() ([]sessionstore.Message, error){
		func() ([]sessionstore.Message, error) { return Repair(old, d) },
		func() ([]sessionstore.Message, error) { return Rewind(old, d) },
		func() ([]sessionstore.Message, error) { return ToTurn(old, CountTurns(now), Complete) },
		func() ([]sessionstore.Message, error) { return ToTurn(old, CountTurns(now), Remove) },
	} {
		rows, err := f()
		if err == nil && slices.EqualFunc(rows, now, sameRow) {
			return true
		}
	}
	return false
}

// sameRow reports whether two messages are the same, however they are written.
func sameRow(a, b sessionstore.Message) bool {
	return a == b || bytes.Equal(written(a), written(b))
}

func written(m sessionstore.Message) []byte {
	line, err := pyjson.Append(nil, value(m), pyjson.Style{})
	if err != nil {
		return value(m)
	}
	return line
}
