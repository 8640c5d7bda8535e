package sessiondir

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// A transcript that this library empties on purpose is marked in two ways. Each is
// enough.
//
//   - The time of its last change: the digits below a tenth of a second are the result of
//     emptyDigits. A copy with its times keeps them.
//   - A record of that time in the bookkeeping. It is of use where a clock has too coarse
//     steps for such digits: Windows counts 100 ns, FAT 2 s.
//
// A power cut may leave an empty file, too, but with another time.
const emptyStep = 100 * time.Millisecond

// clockSteps are the steps of the clocks of file systems.
var clockSteps = [...]time.Duration{
	time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, time.Millisecond, 10 * time.Millisecond, time.Second, 2 * time.Second,
}

// MarkEmpty returns the time of the last change for the transcript, which the
// caller is about to empty on purpose, and records it. The time is just before
// now, but later than after. With sync the record is durable.
//
// A record of a transcript that is not emptied in the end does no harm: no
// other file gets its time.
func (d *Dir) MarkEmpty(after time.Time, sync bool) (time.Time, error) {
	at := EmptyTime(after)
	if d.isEmpty(Transcript) && d.isEmpty(Backup(Transcript)) {
		return at, nil // an empty transcript beside no rows needs no reason
	}
	if err := d.emptied.put(at, sync); err != nil {
		return at, fmt.Errorf("record that the transcript is emptied: %w", err)
	}
	return at, nil
}

// isEmpty reports whether the file is known to be empty or missing.
func (d *Dir) isEmpty(name string) bool {
	at, err := d.Stat(name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && at.Size == 0
}

// MeantEmpty reports whether the transcript, which is empty and has the stamp
// at, was emptied on purpose by this library.
func (d *Dir) MeantEmpty(at Stamp) (bool, error) {
	if hasEmptyDigits(at.Mtime) {
		return true, nil
	}
	recorded, err := d.emptied.at()
	return err == nil && sameByClock(recorded, at.Mtime), err
}

// ForgetEmptied removes the record of session id, which was removed.
func (b *Base) ForgetEmptied(id string) error { return emptied{b.open, id}.remove() }

// sameByClock reports whether a file that was given the time set may have the
// time got: a clock rounds it, down or up, to a whole number of its steps.
func sameByClock(set, got time.Time) bool {
	for _, step := range clockSteps {
		if off := got.Sub(set); got.Truncate(step).Equal(got) && -step < off && off < step {
			return true
		}
	}
	return false
}

// EmptyTime returns a time, later than after, that marks a file as empty on purpose.
func EmptyTime(after time.Time) time.Time {
	slot := time.Now().Truncate(emptyStep).Add(-emptyStep)
	if !slot.After(after) {
		slot = after.Truncate(emptyStep).Add(emptyStep)
	}
	return slot.Add(emptyDigits(slot))
}

func hasEmptyDigits(at time.Time) bool {
	slot := at.Truncate(emptyStep)
	return at.Sub(slot) == emptyDigits(slot)
}

// emptyDigits depends on the slot, so that a clock with coarse steps hardly
// ever gives such a time.
func emptyDigits(slot time.Time) time.Duration {
	own := xxh3.HashSeed(binary.BigEndian.AppendUint64(nil, uint64(slot.UnixNano())), 1) % 100_000
	return time.Duration(own*1000 + xxh3.HashSeed(nil, 0)%1000)
}

// emptiedDir is the directory of the bookkeeping with a record of each
// transcript that was emptied on purpose: the time that it was given.
var emptiedDir = filepath.Join(Bookkeeping, "emptied")

// emptied is the record of one session.
type emptied struct {
	open func() (*vfs.Dir, error) // the sessions directory that has its path now
	id   string
}

// name returns the name of the record's file, which fits every file system.
func (e emptied) name() string {
	sum := sha256.Sum256([]byte(e.id))
	return hex.EncodeToString(sum[:])
}

// put records the time at. With sync the record is durable.
func (e emptied) put(at time.Time, sync bool) (err error) {
	top, err := e.open()
	if err != nil {
		return err
	}
	if err := top.MkdirAll(emptiedDir); err != nil {
		return err
	}
	in, err := top.Below(emptiedDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	names, _ := in.NamesIn(".") // files that cannot be listed are removed next time
	for _, left := range names {
		if strings.HasPrefix(left, "."+e.name()) {
			_ = in.Remove(left) // of a killed process; tried again next time
		}
	}
	err = in.Replace(e.name(), sync, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, at.UTC().Format(time.RFC3339Nano)+"\n")
		return err
	})
	if err != nil || !sync {
		return err
	}
	return errors.Join(in.Sync(), syncBelow(top, Bookkeeping), top.Sync())
}

// at returns the recorded time, the zero time where there is no sound record.
func (e emptied) at() (time.Time, error) {
	top, err := e.open()
	if err != nil {
		return time.Time{}, err
	}
	data, err := top.Root().ReadFile(filepath.Join(emptiedDir, e.name()))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(string(data), "\n"))
	if err != nil {
		return time.Time{}, nil
	}
	return at, nil
}

// remove removes the record, if there is one.
func (e emptied) remove() error {
	top, err := e.open()
	if err != nil {
		return err
	}
	path := filepath.Join(emptiedDir, e.name())
	if _, err := top.Root().Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return top.Remove(path)
}
