package trash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Restored is the result of a restore.
type Restored struct {
	Sessions []Session // these are in their place again
	Failed   []Failure // these stay in the trash
}

// Restore moves the sessions of r, which [List] or [Select] returned, back to their place.
// A session whose place is taken, or that cannot be moved, stays in the trash and is in
// Failed; its error Is [fs.ErrExist] when the place is taken. When Restore returns nil, the
// others are in their place, durably if the store promises that. progress is called after
// each session; nil is allowed.
func Restore(ctx context.Context, st *sessionstore.Store, r Receipt, progress func(done, total int)) (Restored, error) {
	var res Restored
	if err := checkReceipt(r.ID); err != nil {
		return res, err
	}
	store := core.Of(st)
	bin, err := store.Trash()
	if err != nil {
		return res, fmt.Errorf("open trash: %w", err)
	}
	defer bin.Close()
	for i, s := range r.Sessions {
		if err = ctx.Err(); err != nil {
			break
		}
		if err := store.Fetch(ctx, s.ID, sessionsOf(r.ID)); err != nil {
			res.Failed = append(res.Failed, Failure{s.ID, err})
		} else {
			res.Sessions = append(res.Sessions, s)
		}
		if progress != nil {
			progress(i+1, len(r.Sessions))
		}
	}
	if len(res.Sessions) > 0 {
		serr := store.SyncDirs(".", sessionsOf(r.ID))
		if errors.Is(serr, fs.ErrNotExist) { // another process took the last ones and removed the receipt; "." was synced
			serr = nil
		}
		err = errors.Join(err, serr)
	}
	return res, errors.Join(err, tidy(ctx, st, bin, r.ID))
}
