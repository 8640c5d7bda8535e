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

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// List returns the receipts in the trash of st, the newest first, each with the
// sessions that are still in the trash. It creates no trash. A receipt that is
// damaged or of a newer version does not hide its sessions: List returns them
// beside an error that joins a [*ReceiptError] for each such receipt.
func List(ctx context.Context, st *sessionstore.Store) ([]Receipt, error) {
	if _, err := os.Lstat(filepath.Join(st.Dir(), sessiondir.Trash)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	bin, err := core.Of(st).Trash()
	if err != nil {
		return nil, fmt.Errorf("open trash: %w", err)
	}
	defer bin.Close()
	ids, err := receipts(bin)
	var all []Receipt
	for _, id := range ids {
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		there, perr := present(bin, id)
		if perr != nil || len(there) == 0 {
			err = errors.Join(err, perr)
			continue
		}
		r, rerr := readReceipt(bin, id)
		err = errors.Join(err, rerr)
		r.Sessions = slices.DeleteFunc(r.Sessions, func(s Session) bool {
			known := there[s.ID]
			delete(there, s.ID)
			return !known
		})
		for name := range there { // the receipt does not name it
			r.Sessions = append(r.Sessions, Session{ID: name})
		}
		slices.SortStableFunc(r.Sessions, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
		all = append(all, r)
	}
	return all, err
}

// receipts returns the ids of the receipts, newest first.
func receipts(bin *vfs.Dir) ([]string, error) {
	entries, err := fs.ReadDir(bin.Root().FS(), ".")
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

// Select finds ref among the receipts all, which [List] returned: a receipt with all of its
// sessions when ref is its id or the beginning of it, else the newest receipt that has the
// session ref, with that session alone. For a session, too, the beginning of the id is
// enough. The error Is [sessionstore.ErrNotFound], or a [*sessionstore.AmbiguousError] when
// ref is the beginning of several ids.
func Select(all []Receipt, ref string) (Receipt, error) {
	if ref == "" {
		return Receipt{}, limits.Errorf(sessionstore.ErrNotFound, "the trash has no %q", ref)
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
		return Receipt{}, limits.Errorf(sessionstore.ErrNotFound, "the trash has no %q", ref)
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
