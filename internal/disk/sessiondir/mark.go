package sessiondir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/zeebo/xxh3"
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
