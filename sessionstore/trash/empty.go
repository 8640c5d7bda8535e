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

// Emptied counts the receipts, sessions and bytes that [Empty] removed for good.
type Emptied struct {
	Receipts int
	Sessions int
	Bytes    int64
}

// Empty removes receipts, which [List] returned, with their sessions for good,
// durably if the store promises that. Each receipt vanishes at once, with all of
// its sessions. After an error the result counts the receipts that are gone.
func Empty(ctx context.Context, st *sessionstore.Store, receipts []Receipt) (Emptied, error) {
	var res Emptied
	for _, r := range receipts {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if err := checkReceipt(r.ID); err != nil {
			return res, err
		}
		if err := core.Of(st).Destroy(ctx, receiptPath(r.ID)); err != nil {
			return res, fmt.Errorf("empty trash: receipt %s: %w", r.ID, err)
		}
		res.Receipts++
		res.Sessions += len(r.Sessions)
		res.Bytes += Bytes(r.Sessions)
	}
	return res, nil
}

// tidy removes a receipt that has no sessions any more.
func tidy(ctx context.Context, st *sessionstore.Store, bin *vfs.Dir, id string) error {
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

// leftAfter is the age from which on a receipt without sessions counts as left
// by a killed process. A younger one may be of a process that is about to move
// sessions to it.
const leftAfter = time.Hour

// sweep removes the receipts without sessions that killed processes left.
func sweep(ctx context.Context, st *sessionstore.Store, bin *vfs.Dir) error {
	ids, err := receipts(bin)
	for _, id := range ids {
		at, terr := time.Parse(stamp, id[:len(stamp)])
		if terr != nil || core.Of(st).Now().Sub(at) < leftAfter {
			continue
		}
		err = errors.Join(err, tidy(ctx, st, bin, id))
	}
	return err
}
