package syncer

import (
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// session is the session that a piece of work is about: what it is asked for, and what
// this device keeps of the session from one sync to the next.
type session struct {
	*Syncer
	Options
	id, sid string
	st      *replica.SessionState
	verdict privacy.Verdict // of the rules of the directory

	fetches   bool // lines are fetched, and not sent
	recreates bool // the session is sent anew
}

func (e *Syncer) session(id string, w Options) *session {
	sid := e.SID(id)
	return &session{
		Syncer: e, Options: w, id: id, sid: sid, st: e.States.Load(sid, id),
		fetches: w.Mode == Fetch || w.Mode == Resume, recreates: w.Mode == Recreate,
	}
}

// sentLog returns how much of a log the cloud has, by the last head that is known.
func (s *session) sentLog(st segment.Stream) segment.Point {
	if t, err := head.Decode(s.st.Head.Doc, s.sid); err == nil {
		if r, ok := t.Logs[st]; ok {
			return r.Point()
		}
	}
	return segment.Origin(st)
}

// redaction returns the version of the rules; "" for none.
func (s *session) redaction() string {
	if s.Privacy.Redact == nil {
		return ""
	}
	return s.Privacy.Redact.Version()
}
