package inuse

import "time"

const (
	// Window is how long a session is in use after a program used it.
	Window = 10 * time.Minute
	// every is the time in which a program does not name a session again.
	every = 2 * time.Second
	// maxNamed is the largest number of sessions that a program names.
	maxNamed = 4096
	// rewriteSize is the size from which a file is written anew when most of it
	// is out of date.
	rewriteSize = 256 << 10
)

// all is the name for every session.
const all = ""

// line is a line of a program's file. A later line of the same session counts.
type line struct {
	Session string `json:"session"`
	Used    int64  `json:"used,omitempty"`  // when the program used it, in milliseconds; 0: it never did
	Wrote   int64  `json:"wrote,omitempty"` // when a program wrote its transcript
}

// The endings of a program's two files.
const (
	lockEnding  = ".lock"
	namesEnding = ".jsonl"
)

// recent reports whether at was so short a time ago that it need not be written again.
func recent(at, now int64) bool { return at <= now && now-at < every.Milliseconds() }

// Use is the use of a session by programs. The zero Use: no known use.
type Use struct {
	Here   bool      // this program uses it
	Others time.Time // when another living program last used it; zero: none does
	wrote  []int64   // when programs, living or dead, last wrote the transcript
}

// nameLate is the longest time from a write to the naming of the session: on a busy
// machine some seconds pass.
const nameLate = 30 * time.Second

// Wrote reports whether a program of this library wrote the transcript that was last
// changed at the time mtime. A program names the session after its write, and not again
// for two seconds. So a change up to two seconds behind the name counts as its own, and a
// change before the name for longer: an earlier write of another program has given the
// file an earlier time than the write did.
func (u *Use) Wrote(mtime time.Time) bool {
	at := mtime.UnixMilli()
	for _, w := range u.wrote {
		if w-nameLate.Milliseconds() <= at && at <= w+every.Milliseconds() {
			return true
		}
	}
	return false
}

func (u *Use) add(l line) {
	if l.Wrote > 0 {
		u.wrote = append(u.wrote, l.Wrote)
	}
}

// used reports whether a session is in use by the program that wrote l. A use long after
// now was on a clock that was set back.
func used(l line, now int64) bool {
	return l.Used > 0 && max(now-l.Used, l.Used-now) < Window.Milliseconds()
}
