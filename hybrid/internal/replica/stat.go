package replica

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// Stat tells how the files of a session stand, without their content: two that
// are the same, of which the earlier is Sure, mean that nothing was written.
type Stat struct {
	Dir   Sum                        `json:"dir"`
	Files [len(sessiondir.Files)]Sum `json:"files"` // in the order of [sessiondir.Files]
	Sure  bool                       `json:"sure"`  // every later change shows in a later Stat
}

// Sum is a hash of the stamp of a file or directory; 0: it is not there.
type Sum uint64

// SumOf returns the sum of a stamp.
func SumOf(s vfs.Stamp) Sum {
	var b [5 * 8]byte
	for i, n := range []uint64{s.Dev, s.Inode, uint64(s.Size), uint64(nanoseconds(s.Mtime)), uint64(nanoseconds(s.Ctime))} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:])
	return Sum(max(1, h.Sum64()))
}

// nanoseconds returns a time of the file system; 0 where it does not tell.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Same reports whether both tell of the same files.
func (s Stat) Same(t Stat) bool { return s.Dir == t.Dir && s.Files == t.Files }

// SettleTime is after how long a stat that stays the same hides no change, however
// coarse or wrong the clocks are.
const SettleTime = 2 * time.Second
