package inuse

import "time"

const (
	// Window is how long a session is in use after a program used it.
	Window = 10 * time.Minute
	// every is how long a program does not name a session again.
	every = 2 * time.Second
	// maxNamed is how many sessions a program names.
	maxNamed = 4096
	// rewriteSize is the size from which a file is written anew when most of it
	// is out of date.
	rewriteSize = 256 << 10
)

// all is the name that stands for every session.
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

// recent reports whether at was so short a time ago that it need not be told
// again.
func recent(at, now int64) bool { return at <= now && now-at < every.Milliseconds() }

// Use tells who uses a session. The zero Use: nobody is known to.
type Use struct {
	Here   bool      // this program does
	Others time.Time // when another living program last did; zero: none does
	wrote  []int64   // when programs, living or dead, last wrote the transcript
}

// nameLate is how long after a write a program may name the session: on a busy
// machine some seconds pass.
const nameLate = 30 * time.Second

// Wrote reports whether the transcript that was last changed at the time mtime
// is what a program of this library wrote. A program names the session after its
// write, and not again for two seconds. So a change up to two seconds behind the name
// is taken for its own, and one before the name for longer: whoever changed the file
// before that write has given it an earlier time than the write did.
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

// used reports whether a session is in use by the program that wrote l.
func used(l line, now int64) bool { return l.Used > 0 && now-l.Used < Window.Milliseconds() }
