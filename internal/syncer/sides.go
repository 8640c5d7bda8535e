package syncer

import "github.com/amplifier-go/sessionstorage/internal/replica"

// sides are both sides of a session, what was found out by comparing them, and what was
// done about it.
type sides struct {
	*session
	local *local
	cloud *cloud

	why        error // why the files must not be changed now, when that was asked last
	formsKnown bool  // the forms of lines were compared with those in the cloud

	resumes bool                  // a tombstone that this device wrote to send the session anew is passed over
	passed  bool                  // one was
	undo    *replica.SessionState // not nil: what is known unless the sync comes to a new head

	out Result
}

func (e *Syncer) sides(id string, w Options) *sides {
	l := e.local(id, w)
	return &sides{session: l.session, local: l, cloud: l.session.cloud()}
}

// remember keeps what is known now for the next sync.
func (s *sides) remember() error {
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
	if s.resumes && !s.Pull && s.anewIsOver(s.cloud.head) {
		return s.forgetAnew()
	}
	return s.States.Save(s.sid, s.st)
}
