package trash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// List returns the receipts of what is in the trash of st, newest first, each
// with the sessions that are still there. A receipt that is damaged, or of a
// newer version, does not hide its sessions: the error tells of it.
func List(ctx context.Context, st *sessionstore.Store) ([]Receipt, error) {
	if _, err := os.Lstat(filepath.Join(st.Dir(), sessiondir.Trash)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // and none is made
	}
	trash, err := st.Inside().Trash()
	if err != nil {
		return nil, fmt.Errorf("open trash: %w", err)
	}
	defer trash.Close()
	ids, err := receipts(trash)
	var all []Receipt
	for _, id := range ids {
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		there, perr := present(trash, id)
		if perr != nil || len(there) == 0 {
			err = errors.Join(err, perr)
			continue
		}
		r, rerr := readReceipt(trash, id)
		err = errors.Join(err, rerr)
		r.Sessions = slices.DeleteFunc(r.Sessions, func(s Session) bool {
			known := there[s.ID]
			delete(there, s.ID)
			return !known
		})
		for name := range there { // the receipt does not know it
			r.Sessions = append(r.Sessions, Session{ID: name})
		}
		slices.SortStableFunc(r.Sessions, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
		all = append(all, r)
	}
	return all, err
}

// receipts returns the ids of the receipts, newest first.
func receipts(trash *atomicfile.Dir) ([]string, error) {
	entries, err := fs.ReadDir(trash.Root().FS(), ".")
	var ids []string
	for _, e := range entries {
		if e.IsDir() && isReceipt.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, err
}

// Select returns the parts of receipts that ref means: the beginning of a
// receipt's id, with all of its sessions, or the id of a session or its
// beginning, in the newest receipt that has it. The error Is
// [sessionstore.ErrNotFound] or a [*sessionstore.AmbiguousError].
func Select(all []Receipt, ref string) (Receipt, error) {
	if ref == "" {
		return Receipt{}, fmt.Errorf("the trash has no %q: %w", ref, sessionstore.ErrNotFound)
	}
	var found []string
	var first Receipt
	for _, r := range all {
		if strings.HasPrefix(r.ID, ref) {
			found, first = append(found, r.ID), r
		}
	}
	if len(found) == 0 {
		found, first = selectSession(all, ref)
	}
	switch len(found) {
	case 0:
		return Receipt{}, fmt.Errorf("the trash has no %q: %w", ref, sessionstore.ErrNotFound)
	case 1:
		return first, nil
	}
	return Receipt{}, &sessionstore.AmbiguousError{Prefix: ref, Matches: found}
}

func selectSession(all []Receipt, ref string) (found []string, first Receipt) {
	for _, exact := range []bool{true, false} {
		for _, r := range all {
			for _, s := range r.Sessions {
				if s.ID != ref && (exact || !strings.HasPrefix(s.ID, ref)) || slices.Contains(found, s.ID) {
					continue
				}
				if found = append(found, s.ID); len(found) == 1 {
					first = r
					first.Sessions = []Session{s}
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found, first
}

// Restore moves the sessions of r, which [List] or [Select] returned, back to
// their place. One that is there by now, or that cannot be moved, stays in the
// trash and is told in failed. progress is told of each session; nil: nobody is.
func Restore(ctx context.Context, st *sessionstore.Store, r Receipt, progress func()) (restored []Session, failed []Failure, err error) {
	in := st.Inside()
	trash, err := in.Trash()
	if err != nil {
		return nil, nil, fmt.Errorf("open trash: %w", err)
	}
	defer trash.Close()
	for _, s := range r.Sessions {
		if err = ctx.Err(); err != nil {
			break
		}
		if err := in.Fetch(ctx, s.ID, below(r.ID)); err != nil {
			failed = append(failed, Failure{s.ID, err})
		} else {
			restored = append(restored, s)
		}
		if progress != nil {
			progress()
		}
	}
	if len(restored) > 0 {
		serr := in.Settle(".", below(r.ID))
		if errors.Is(serr, fs.ErrNotExist) { // somebody else took the last ones and tidied up; "." was synced
			serr = nil
		}
		err = errors.Join(err, serr)
	}
	return restored, failed, errors.Join(err, tidy(ctx, st, trash, r.ID))
}

// Empty removes for good what the receipts name, and returns how many
// sessions and bytes that were as far as it came. A receipt goes whole, and at
// once.
func Empty(ctx context.Context, st *sessionstore.Store, all []Receipt) (sessions int, bytes int64, err error) {
	for _, r := range all {
		if err := ctx.Err(); err != nil {
			return sessions, bytes, err
		}
		if err := st.Inside().Destroy(ctx, path(r.ID)); err != nil {
			return sessions, bytes, fmt.Errorf("empty trash: receipt %s: %w", r.ID, err)
		}
		sessions += len(r.Sessions)
		bytes += Bytes(r.Sessions)
	}
	return sessions, bytes, nil
}

// Before returns the receipts of removals that happened before at.
func Before(all []Receipt, at time.Time) []Receipt {
	return slices.DeleteFunc(slices.Clone(all), func(r Receipt) bool { return !r.At.Before(at) })
}

// tidy removes a receipt that has no sessions any more.
func tidy(ctx context.Context, st *sessionstore.Store, trash *atomicfile.Dir, id string) error {
	there, err := present(trash, id)
	if err != nil || len(there) > 0 {
		return err
	}
	// Only an empty directory is removed so: a session that came to it
	// meanwhile stays.
	if err := trash.Remove(filepath.Join(id, shelf)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tidy trash: %w", err)
	}
	if err := st.Inside().Destroy(context.WithoutCancel(ctx), path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tidy trash: %w", err)
	}
	return nil
}

// leftAfter is how old a receipt without sessions must be before it is no
// other process's that is about to move some.
const leftAfter = time.Hour

// sweep removes the receipts without sessions that killed processes left.
func sweep(ctx context.Context, st *sessionstore.Store, trash *atomicfile.Dir) error {
	ids, err := receipts(trash)
	for _, id := range ids {
		at, terr := time.Parse(stamp, id[:len(stamp)])
		if terr != nil || st.Inside().Now().Sub(at) < leftAfter {
			continue
		}
		err = errors.Join(err, tidy(ctx, st, trash, id))
	}
	return err
}
