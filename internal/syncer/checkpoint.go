package syncer

import (
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/replica"
)

// checkpoint notes how the session stands, if it needs no scan from now on while
// its files do not change.
func (v *work) checkpoint() {
	s := replica.Session{ID: v.id, Stat: v.stat}
	switch {
	case v.stat.Dir == 0 && !v.local.present && v.out.Err == nil:
		s = replica.Session{ID: v.id, State: replica.Gone}
		if _, known := v.Table.Session(v.id); !known {
			return
		}
	case v.out.Err == nil && v.out.State == Local && !v.verdict.inherited && !v.LocalOnly.Has(v.id) && v.States.Rules().Err() == nil:
		s.State = replica.Denied
	case v.out.Err == nil && v.agrees(&s):
	default:
		v.Table.Reopen(v.id)
		return
	}
	v.Table.Put(s)
}

// agrees reports whether both sides have the same, and other devices can know it.
// It fills in what there is to know of the session.
func (v *work) agrees(s *replica.Session) bool {
	if v.local.main == nil || v.local.doubt != nil || len(v.cloud.lacking) > 0 || !v.out.Later.IsZero() || !v.local.settled() {
		return false
	}
	t, err := head.Decode(v.st.Head.Doc, v.sid)
	if err != nil || v.entryIsOld(t) {
		return false
	}
	s.Revision, s.N, s.Remote, s.Logs = t.Revision, v.local.main.End().N, t.Transcript.N, v.st.HasLogs(t, v.Device.ID) && !v.st.Lacks
	if t.Deleted {
		s.State = replica.Deleted
	}
	return true
}
