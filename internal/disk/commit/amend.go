package commit

import (
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// sector is the size of the unit that a disk writes whole.
const sector = 512

// An Amendment is a backup that has the next content of main and waits for the name. No
// other program opens it until Discard, which ends every Amendment.
type Amendment struct {
	of   File
	main sessiondir.Stamp
	next *nextMain
}

// Amend gives the backup the next content of main, if the two differ only in bytes of one
// sector. The new bytes are written over the old ones, so that the backup is a whole file
// at each instant, also after a power cut, and no file is made. The sync runs until
// Commit. The error Is [ErrRewrite] if the backup is no such file, or another program has
// it open.
func (f File) Amend(main sessiondir.Stamp, content []byte, at time.Time) (*Amendment, error) {
	next, err := f.leaseBackup(main)
	if err != nil {
		return nil, err
	}
	a := &Amendment{f, main, next}
	if err := a.write(content, at); err != nil {
		a.Discard()
		return nil, err
	}
	return a, nil
}

// write writes over the bytes in which the backup differs from content.
func (a *Amendment) write(content []byte, at time.Time) error {
	if a.next.at.Size != int64(len(content)) || a.next.mode != vfs.Mode {
		return fmt.Errorf("%w: the backup has another size or mode", ErrRewrite)
	}
	if named, err := a.of.Dir.Stat(a.of.backup()); err != nil || !named.SameFile(a.next.at) {
		return fmt.Errorf("%w: the backup is a link, or another file by now", ErrRewrite)
	}
	old := make([]byte, len(content))
	if _, err := a.next.file.ReadAt(old, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	from, to := 0, len(content)
	for from < to && old[from] == content[from] {
		from++
	}
	for from < to && old[to-1] == content[to-1] {
		to--
	}
	if from < to && from/sector != (to-1)/sector {
		return fmt.Errorf("%w: the backup differs from the file", ErrRewrite)
	}
	if err := a.next.edit.WriteAt(content[from:to], int64(from)); err != nil {
		return fmt.Errorf("amend backup: %w", err)
	}
	if err := a.of.beginSync(a.next, int64(from), at); err != nil {
		return err
	}
	if a.of.Sync {
		a.next.edit.StartSync()
	}
	return nil
}

// Commit exchanges the names: the backup becomes main, and main the backup. The errors
// are the same as of [File.Append].
func (a *Amendment) Commit() (Result, error) {
	if err := a.of.complete(a.next, a.next.at.Size); err != nil {
		return Result{}, err
	}
	return a.of.takeName(a.next, a.main)
}

// Discard lets other programs open the backup. Without Commit before, the backup keeps
// its new content; main is as it was.
func (a *Amendment) Discard() { _ = a.next.discard() }
