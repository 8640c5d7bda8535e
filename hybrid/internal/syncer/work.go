package syncer

import (
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// work is one piece of work on a session: both sides of the session, what was found out by
// comparing them, and what was done about it.
type work struct {
	*session
	local *local
	cloud *cloud

	began      time.Time // when the session was last scanned, by the clock on the wall
	why        error     // why the files must not be changed now, when that was asked last
	formsKnown bool      // the forms of lines were compared with those in the cloud

	resumes bool                  // a tombstone that this device wrote to send the session anew is passed over
	passed  bool                  // one was
	undo    *replica.SessionState // not nil: what is known unless the sync comes to a new head

	barred error        // why nothing may be sent, once that was found out
	stat   replica.Stat // before it was scanned
	mended bool         // what is damaged in the cloud and whole here was stored again

	out Result
}

func (e *Syncer) work(id string, w Options) *work {
	l := e.local(id, w)
	return &work{session: l.session, local: l, cloud: l.session.cloud()}
}

// remember keeps what is known now for the next sync.
func (s *work) remember() error {
	s.undo = nil
	s.st.Lacks = len(s.cloud.lacking) > 0
	if s.cloud.head != nil {
		s.st.Born = s.cloud.head.Born
		if s.local.present && s.local.main.Point() == s.cloud.head.Transcript.Point() && !s.cloud.head.Deleted {
			base := s.local.main.Point()
			s.st.Base = &base
		}
	}
	for _, l := range s.local.logs {
		if s.cloud.head != nil && s.cloud.head.Logs[l.Stream].Point() == l.Point() {
			l.own.Base = l.Point()
			s.keepLog(l.kind, l.own)
		}
	}
	if s.resumes && !s.fetches && s.anewIsOver(s.cloud.head) {
		return s.forgetAnew()
	}
	return s.States.Save(s.sid, s.st)
}
