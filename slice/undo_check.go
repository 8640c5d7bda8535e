package slice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// ErrWentOn is returned when the conversation went on after the change to undo.
var ErrWentOn = errors.New("the session went on since: Undo with Force brings the backup back, and keeps what is there now")

// isCurrent reports whether the transcript has the bytes of backup b.
func isCurrent(ctx context.Context, dir *sessiondir.Dir, b Backup) (bool, error) {
	now, _, err := dir.ReadUntil(ctx, sessiondir.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	old, _, err := dir.ReadUntil(ctx, b.Name)
	return bytes.Equal(now, old), err
}

// checkUndo returns an error unless the transcript, which holds the messages
// now, can be found again without the copy that an undo keeps: a repair, a
// rewind or a salvage makes it of backup b, which holds the messages old, or
// another backup has its bytes. The error Is [ErrWentOn], or
// [sessionstore.ErrCorrupt] if now comes from the store's own backup.
func checkUndo(ctx context.Context, tx core.Tx, b Backup, old, now []sessionstore.Message) error {
	if r := tx.Recovered(); r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return r.Reason
	}
	if isRepairOrRewind(old, now) || b.Label == sessiondir.LabelRepair && isMended(accept.Anthropic, old, now) {
		return nil
	}
	if b.Label == sessiondir.LabelSalvage {
		if made, err := isSalvaged(tx, old, now); made || err != nil {
			return err
		}
	}
	dir := tx.Dir()
	data, _, err := dir.ReadUntil(ctx, sessiondir.Transcript)
	if err != nil {
		return err
	}
	all, err := backupsIn(dir)
	if err != nil {
		return err
	}
	for _, b := range all {
		if b.Size != int64(len(data)) {
			continue
		}
		other, _, err := dir.ReadUntil(ctx, b.Name)
		if err == nil && bytes.Equal(other, data) {
			return nil
		}
	}
	return ErrWentOn
}

// isSalvaged reports whether a salvage makes now of old. It makes all messages
// that one of the damaged files holds whole. Those files stay.
func isSalvaged(tx core.Tx, old, now []sessionstore.Message) (bool, error) {
	if len(now) < len(old) || !slices.EqualFunc(old, now[:len(old)], sameValue) {
		return false, nil
	}
	names, err := tx.Dir().Names()
	if err != nil {
		return false, fmt.Errorf("list damaged files: %w", err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, sessiondir.Transcript) || !strings.Contains(name, damagedInfix) {
			continue
		}
		rows, err := tx.Messages(name)
		if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
			continue
		}
		if slices.EqualFunc(objects(rows, len(old)), now, sameValue) {
			return true, nil
		}
	}
	return false, nil
}

// damagedInfix is in the names of the damaged files that a store moved away.
const damagedInfix = ".damaged-"

// objects returns rows without those at or behind index first that are no JSON
// objects. A salvage leaves these out.
func objects(rows []sessionstore.Message, first int) []sessionstore.Message {
	first = min(first, len(rows))
	return slices.Concat(rows[:first], slices.DeleteFunc(rows[first:], func(m sessionstore.Message) bool { return !isObject(m) }))
}

// isRepairOrRewind reports whether a repair or a rewind makes now of old, by this package
// or by the reference.
func isRepairOrRewind(old, now []sessionstore.Message) bool {
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
		if err == nil && slices.EqualFunc(rows, now, sameValue) {
			return true
		}
	}
	return false
}

// isMended reports whether a repair for some of the providers from first on makes now of old.
func isMended(first accept.Provider, old, now []sessionstore.Message) bool {
	for p := first; p <= accept.Gemini; p++ {
		m, err := accept.Fix(p, old)
		if err != nil || len(m.Amendments) == 0 {
			continue
		}
		if slices.EqualFunc(m.Messages, now, sameValue) || isMended(p+1, m.Messages, now) {
			return true
		}
	}
	return false
}

// sameValue reports whether two messages are the same JSON value, whatever their
// white space and escapes.
func sameValue(a, b sessionstore.Message) bool {
	return a == b || bytes.Equal(pyjson.Canonical(value(a)), pyjson.Canonical(value(b)))
}
