package syncer

import (
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// ErrTakenAway is returned when a pull would take lines away, and what former pulls took away
// of the session leaves no room to keep them.
var ErrTakenAway = errors.New("the remote has lines no more that are here, and what pulls took away of the session takes too much room already: drop it with sessions undo --drop or slice.DropBackups, and sync again")

// What a pull takes away is kept for takenFor, and as long as all of it takes at most takenMost
// bytes, or four times those of the session.
const (
	takenFor  = 30 * 24 * time.Hour
	takenMost = 1 << 30
)

// dropTaken removes the copies of former pulls that are older than takenFor, and returns the bytes
// of the others. One that cannot be removed stays until the next pull.
func (v *work) dropTaken(dir *sessiondir.Dir) (taken int64, err error) {
	names, err := dir.Names()
	if err != nil {
		return 0, fmt.Errorf("list kept transcripts: %w", err)
	}
	for _, name := range names {
		k, ok := sessiondir.ParseKept(name)
		if !ok || k.File != sessiondir.Transcript || k.Label != sessiondir.LabelPull {
			continue
		}
		is, err := dir.Root().Lstat(name)
		if err != nil || !is.Mode().IsRegular() || v.Core.Now().Sub(k.Time) > takenFor && dir.Remove(name) == nil {
			continue
		}
		taken += is.Size()
	}
	return taken, nil
}

// keepTaken copies the transcript, which has size bytes, to a name that an undo finds, if the
// pull a takes lines of it away or replaces them. Those of former pulls take taken bytes. A torn
// transcript is kept already.
func (v *work) keepTaken(tx core.Tx, a *download, size, taken int64) error {
	if a.from.N >= v.local.main.End().N || v.local.main.Torn {
		return nil
	}
	if size+taken > max(takenMost, 4*size) {
		return ErrTakenAway
	}
	dir := tx.Dir()
	suffix, err := dir.KeptSuffix(sessiondir.LabelPull, v.Core.Now())
	if err == nil {
		err = dir.Copy(sessiondir.Transcript, sessiondir.Transcript+suffix, v.Core.Syncs())
	}
	if err == nil && v.Core.Syncs() {
		err = dir.Sync()
	}
	if err != nil {
		return fmt.Errorf("keep what a pull takes away: %w", err)
	}
	tx.Renamed(sessiondir.Transcript + suffix)
	return nil
}
