package hybrid

import "github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"

// join makes this store known to the other programs of the device. Where that
// fails, they wait ten minutes after each of its writes.
func (e *engine) join() {
	dir, err := e.Core.Bookkeeping(programsDir)
	if err == nil {
		e.Programs, err = inuse.Begin(dir, e.Random.Name(8))
	}
	if err != nil {
		e.Log.Warn("other programs are not told which sessions are in use", "err", err)
	}
}

const programsDir = "processes"

// leave ends that.
func (e *engine) leave() error {
	if e.Programs == nil {
		return nil
	}
	return e.Programs.End(e.Dirty.Wrote())
}

// uses tells the other programs of the device that this one uses a session, and
// whether it wrote the transcript.
func (e *engine) uses(id string, wrote bool) {
	if e.Programs == nil {
		return
	}
	tell := e.Programs.Use
	if wrote {
		tell = e.Programs.Wrote
	}
	if err := tell(id); err != nil {
		e.Log.Warn("other programs are not told that a session is in use", "session", id, "err", err)
	}
}
