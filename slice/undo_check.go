package slice

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ErrWentOn is returned when the conversation went on after the change to undo.
var ErrWentOn = errors.New("the session went on since: Undo with Force brings the backup back, and keeps what is there now")

var errGone = errors.New("it is missing: Undo with Force brings the backup back")

// made reports whether the transcript is the one that the change of the backup made, by the time
// that [copies.noteMade] gave the copy.
func (u *undoing) made() bool {
	at, err := u.tx.Dir().Stat(u.backup.Name)
	mark, merr := markOf(u.tx.Dir(), sessiondir.Transcript)
	return err == nil && merr == nil && at.Mtime.Nanosecond() == mark.Nanosecond()
}

// markOf returns the second in which a file changed, with a hash of its content as the
// microseconds, which most file systems and programs that copy files keep. The hash is never 0,
// which is what coarse ones keep.
func markOf(dir *sessiondir.Dir, name string) (time.Time, error) {
	f, at, err := dir.Open(name)
	if err != nil {
		return time.Time{}, err
	}
	h := xxh3.New()
	_, err = io.Copy(h, f)
	mark := time.Duration(1+h.Sum64()%999_999) * time.Microsecond
	return at.Mtime.Truncate(time.Second).Add(mark), errors.Join(err, f.Close())
}

// checkFound returns an error unless the transcript can be found again without the copy that
// an undo keeps: another copy has its bytes, or the change of the backup makes it. The error
// Is [ErrWentOn], or [sessionstore.ErrCorrupt] if the store's own backup was read.
func (u *undoing) checkFound() error {
	if _, err := u.tx.Dir().Stat(sessiondir.Transcript); errors.Is(err, fs.ErrNotExist) {
		return &sessionstore.CorruptError{Path: u.tx.Dir().Path(sessiondir.Transcript), Err: errGone}
	}
	if r := u.tx.Recovered(); r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return r.Reason
	}
	files := contents{u.ctx, u.tx.Dir()}
	for _, b := range u.all {
		if is, err := files.follows(b.Name, sessiondir.Transcript); is == same || err != nil {
			return err
		}
	}
	if u.backup.Label == sessiondir.LabelPull { // the backup is the transcript before the last write
		is, err := files.compare(u.backup.Name, sessiondir.Backup(sessiondir.Transcript))
		if is != same && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			err = ErrWentOn
		}
		return err
	}
	results, err := u.results()
	if err != nil {
		return err
	}
	row, c := 0, comparer{}
	err = u.tx.Scan(func(m sessionstore.Message) {
		results = slices.DeleteFunc(results, func(rows []sessionstore.Message) bool { return row >= len(rows) || !c.same(rows[row], m) })
		row++
	})
	if err == nil && !slices.ContainsFunc(results, func(rows []sessionstore.Message) bool { return len(rows) == row }) {
		err = ErrWentOn
	}
	return err
}

// results returns the transcripts that changes make of the backup, by this package or by the
// reference.
func (u *undoing) results() (all [][]sessionstore.Message, err error) {
	d, err := Diagnose(u.old)
	if err != nil {
		return nil, nil
	}
	for _, f := range []func() ([]sessionstore.Message, error){
		func() ([]sessionstore.Message, error) { return ToTurn(u.old, u.turns, Complete) },
		func() ([]sessionstore.Message, error) { return ToTurn(u.old, u.turns, Remove) },
		func() ([]sessionstore.Message, error) { return Repair(u.old, d) },
		func() ([]sessionstore.Message, error) { return Rewind(u.old, d) },
	} {
		if rows, err := f(); err == nil {
			all = append(all, rows)
		}
	}
	if u.backup.Label == sessiondir.LabelSalvage {
		return u.appendSalvaged(all)
	}
	return all, nil
}

// appendSalvaged appends what a salvage makes of the backup: all messages that one of the damaged
// files holds whole. Those files stay.
func (u *undoing) appendSalvaged(all [][]sessionstore.Message) ([][]sessionstore.Message, error) {
	names, err := u.tx.Dir().Names()
	if err != nil {
		return nil, fmt.Errorf("list damaged files: %w", err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, sessiondir.Transcript) || !strings.Contains(name, damagedInfix) {
			continue
		}
		rows, err := u.tx.Messages(name)
		if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
			continue
		}
		rows = objects(rows, len(u.old))
		if len(rows) >= len(u.old) && slices.EqualFunc(u.old, rows[:len(u.old)], new(comparer).same) {
			all = append(all, rows)
		}
	}
	return all, nil
}

// damagedInfix is in the names of the damaged files that a store moved away.
const damagedInfix = ".damaged-"

// objects returns rows without those at or behind index first that are no JSON
// objects. A salvage leaves these out.
func objects(rows []sessionstore.Message, first int) []sessionstore.Message {
	first = min(first, len(rows))
	return slices.Concat(rows[:first], slices.DeleteFunc(rows[first:], func(m sessionstore.Message) bool { return !isObject(m) }))
}

// comparer compares messages in memory that it uses again.
type comparer struct{ a, b []byte }

// same reports whether two messages are the same JSON value, whatever their white space and
// escapes.
func (c *comparer) same(a, b sessionstore.Message) bool {
	if a == b || bytes.Equal(core.Row(a), core.Row(b)) {
		return true
	}
	c.a, c.b = appendCanonical(c.a[:0], a), appendCanonical(c.b[:0], b)
	return bytes.Equal(c.a, c.b)
}

// appendCanonical appends a message as Python writes it.
func appendCanonical(dst []byte, m sessionstore.Message) []byte {
	line, err := pyjson.Append(dst, value(m), pyjson.Style{})
	if err != nil {
		return append(dst, value(m)...)
	}
	return line
}
