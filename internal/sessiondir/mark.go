package sessiondir

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"
)

// A file that was extended, synced, and given its name without syncing the
// directory carries a mark in the time of its last change, so that the
// content is known to be whole should a power cut bring the old names back.
// The time keeps tenths of a second; below them, five digits prove that this
// library set it and three that what was appended is all there.
const (
	markStep   = 100 * time.Millisecond
	ownDigits  = 100_000
	tailDigits = 1_000
)

// MarkTail is how much of the end of the content the mark covers, with its
// size. What a power cut loses before that is not JSON any more.
const MarkTail = 4096

// mark returns the time of the last change for content of size bytes whose
// last bytes are end: just before now, but later than after.
func mark(now, after time.Time, size int64, end []byte) time.Time {
	slot := now.Truncate(markStep).Add(-markStep)
	if !slot.After(after) {
		slot = after.Truncate(markStep).Add(markStep)
	}
	return slot.Add(time.Duration(own(slot)*tailDigits + check(size, end)))
}

// Marked reports whether this time of a file's last change is a mark.
func Marked(at time.Time) bool {
	slot := at.Truncate(markStep)
	return uint64(at.Sub(slot))/tailDigits == own(slot)
}

func markedWhole(at time.Time, data []byte) bool {
	digits := uint64(at.Sub(at.Truncate(markStep)))
	return Marked(at) && digits%tailDigits == check(int64(len(data)), data)
}

func own(slot time.Time) uint64 {
	return xxh3.HashSeed(binary.BigEndian.AppendUint64(nil, uint64(slot.UnixNano())), 1) % ownDigits
}

func check(size int64, end []byte) uint64 {
	return xxh3.HashSeed(end[max(0, len(end)-MarkTail):], uint64(size)) % tailDigits
}

// EmptyTime returns the time of the last change for a file that is empty on
// purpose, later than after, and [MeantEmpty] tells it from what a power cut
// leaves of a file that was not.
func EmptyTime(after time.Time) time.Time { return mark(time.Now(), after, 0, nil) }

// MeantEmpty reports whether an empty file has a time of [EmptyTime].
func MeantEmpty(at time.Time) bool { return markedWhole(at, nil) }

// Unfinished reports whether the backup of a file is a later state of it that
// was acknowledged, but lost its name in a power cut: main is its beginning,
// its mark tells that it is whole, and main is not newer. A marked main is
// not: other writers do not mark what they write. One that is empty on purpose
// is: it is never extended in the place of its backup.
func Unfinished(main, backup []byte, mainAt, backupAt time.Time) bool {
	if len(backup) <= len(main) || backup[len(backup)-1] != '\n' || !bytes.HasPrefix(backup, main) {
		return false
	}
	if len(main) > 0 && main[len(main)-1] != '\n' || len(main) == 0 && MeantEmpty(mainAt) {
		return false
	}
	return markedWhole(backupAt, backup) && (Marked(mainAt) || backupAt.After(mainAt))
}
