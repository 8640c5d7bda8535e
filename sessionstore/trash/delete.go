package trash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ErrWritten is the error of a session that was written after the plan was made.
var ErrWritten = errors.New("it was written since the plan was made")

// Failure is a session that could not be moved, and stayed where it was.
type Failure struct {
	ID  string
	Err error
}

// Deleted is the result of a removal.
type Deleted struct {
	Receipt Receipt   // with the sessions that went; its ID is empty when none did
	Kept    []Session // the sessions that the plan kept
	Failed  []Failure // the sessions that could not be moved
}

// Delete plans the removal of the sessions ids and carries it out.
func Delete(ctx context.Context, st *sessionstore.Store, ids []string, opts *Options) (Deleted, error) {
	p, err := NewPlan(ctx, st, ids, opts)
	if err != nil {
		return Deleted{}, err
	}
	return p.Delete(ctx)
}

// Delete moves the sessions of p.Remove into the trash. When it returns nil, the sessions
// that the receipt names are there, durably if the store promises that. A session that a
// program began to run or wrote since the plan was made stays and is in Failed, and so does
// a session that cannot be moved. After an error, or the end of ctx, the receipt names the
// sessions that were moved until then.
func (p *Plan) Delete(ctx context.Context) (Deleted, error) {
	res := Deleted{Kept: p.Keep}
	if len(p.Remove) == 0 {
		return res, nil
	}
	store := core.Of(p.st)
	bin, err := store.Trash()
	if err != nil {
		return res, fmt.Errorf("open trash: %w", err)
	}
	defer bin.Close()
	if err := sweep(ctx, p.st, bin); err != nil {
		return res, err
	}
	now := store.Now().UTC().Truncate(time.Second)
	r := Receipt{
		Version: version, ID: newID(now), At: now, Reason: p.opts.Reason,
		Project: project(p.st.Dir()), From: p.st.Dir(), Sessions: p.Remove,
	}
	if err := r.write(bin, store.Syncs()); err != nil {
		return res, errors.Join(fmt.Errorf("write receipt: %w", err), removeIfEmpty(ctx, p.st, bin, r.ID))
	}
	err = p.moveAll(ctx, bin, &r, &res)
	return res, err
}

// moveAll moves the sessions of p.Remove. The receipt r is on the disk.
func (p *Plan) moveAll(ctx context.Context, bin *vfs.Dir, r *Receipt, res *Deleted) (err error) {
	r.Sessions = nil
	for i, s := range p.Remove {
		if err = ctx.Err(); err != nil {
			break
		}
		if err := p.move(ctx, r.ID, s); err != nil {
			res.Failed = append(res.Failed, Failure{s.ID, err})
		} else {
			r.Sessions = append(r.Sessions, s)
		}
		p.opts.progress(i+1, len(p.Remove))
	}
	if len(r.Sessions) == 0 {
		return errors.Join(err, removeIfEmpty(ctx, p.st, bin, r.ID))
	}
	res.Receipt = *r
	return errors.Join(err, core.Of(p.st).SyncDirs(sessionsOf(r.ID), "."))
}

// move moves one session, unless it was written since it was examined.
func (p *Plan) move(ctx context.Context, receipt string, s Session) error {
	now := Session{}
	err := now.measure(filepath.Join(p.st.Dir(), s.ID))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case now.Written.After(s.Written), now.Modified.After(s.Modified):
		return ErrWritten
	}
	return core.Of(p.st).Send(ctx, s.ID, sessionsOf(receipt))
}

// Empty removes receipts, which [List] returned, with their sessions for good,
// durably if the store promises that. Each receipt vanishes at once, with all of
// its sessions. It returns how many are gone, also beside an error.
func Empty(ctx context.Context, st *sessionstore.Store, receipts []Receipt) (int, error) {
	for i, r := range receipts {
		if err := errors.Join(ctx.Err(), checkReceipt(r.ID)); err != nil {
			return i, err
		}
		if err := core.Of(st).Destroy(ctx, receiptPath(r.ID)); err != nil {
			return i, fmt.Errorf("empty trash: receipt %s: %w", r.ID, err)
		}
	}
	return len(receipts), nil
}

// removeIfEmpty removes a receipt that has no sessions any more.
func removeIfEmpty(ctx context.Context, st *sessionstore.Store, bin *vfs.Dir, id string) error {
	there, err := present(bin, id)
	if err != nil || len(there) > 0 {
		return err
	}
	// This removes an empty directory only: a session that came to it in between stays.
	if err := bin.Remove(filepath.Join(id, sessionsDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tidy trash: %w", err)
	}
	if err := core.Of(st).Destroy(context.WithoutCancel(ctx), receiptPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tidy trash: %w", err)
	}
	return nil
}

// staleAfter is the age from which on a receipt without sessions counts as left
// by a killed process. A younger one may be of a process that is about to move
// sessions to it.
const staleAfter = time.Hour

// sweep removes the receipts without sessions that killed processes left.
func sweep(ctx context.Context, st *sessionstore.Store, bin *vfs.Dir) error {
	ids, err := receipts(bin)
	for _, id := range ids {
		at, terr := time.Parse(stamp, id[:len(stamp)])
		if terr != nil || core.Of(st).Now().Sub(at) < staleAfter {
			continue
		}
		err = errors.Join(err, removeIfEmpty(ctx, st, bin, id))
	}
	return err
}

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
	return res, errors.Join(err, removeIfEmpty(ctx, st, bin, r.ID))
}
