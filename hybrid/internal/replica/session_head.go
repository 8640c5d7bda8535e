package replica

import (
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Revision returns that of the head that is known, 0 for none.
func (s *SessionState) Revision(sid string) int64 {
	if t := s.Head.Head(sid); t != nil {
		return t.Revision
	}
	return 0
}

// See takes note of the head that the cloud has now, nil for none. A tombstone that
// is not there any more was removed in time. Where anything else is not there, or
// was made by somebody else, it is another container, or an empty one. See reports
// whether the head that was known has vanished.
func (s *SessionState) See(sid string, t *head.Head, known remoteread.Known) (vanished bool) {
	s.Older = time.Time{}
	if t == nil {
		last, never := s.Head.Head(sid), s.Born == "" && len(s.Head.Doc) == 0
		if vanished = !never && (s.Born == "" || last == nil || !last.Deleted); vanished {
			s.Estrange("")
		}
		return vanished
	}
	if s.Born != t.Born {
		s.Estrange(t.Born)
	}
	s.Head = known
	return false
}

// restored is for how long the cloud answers with an older head until that is the one
// which counts: no replica is behind for as long.
const restored = 15 * time.Minute

// SeeOlder takes note that the cloud answered with an older head than the one that is
// known. It reports whether it has done so for such a time that the container must have
// been restored from a backup.
func (s *SessionState) SeeOlder(now time.Time) bool {
	if s.Older.IsZero() || now.Before(s.Older) {
		s.Older = now.UTC().Round(0)
	}
	return now.Sub(s.Older) >= restored
}

// Estrange forgets what was in step with another head than that of the session that
// was born so.
func (s *SessionState) Estrange(born string) {
	s.Born, s.Base, s.Files, s.Logs, s.Head, s.Cat = born, nil, nil, nil, remoteread.Known{}, KnownEntry{}
}

// RemovedDead reports whether a session that is not here was removed here after its
// tombstone was seen. If somebody recreates it, it comes as one that was never here.
func (s *SessionState) RemovedDead(sid string) bool {
	if !s.Here || s.Gone {
		return false
	}
	t := s.Head.Head(sid)
	return t != nil && t.Deleted
}

// HasLogs reports whether the logs of a head are here, beside those that the
// device writes itself.
func (s *SessionState) HasLogs(t *head.Head, device string) bool {
	for st, r := range t.Logs {
		own := s.Logs[st.Kind().String()]
		if s.Cached[st].Point == r.Point() || own != nil && (own.From == st && own.FromPoint == r.Point() || st == segment.LogStream(st.Kind(), device, own.Generation)) {
			continue
		}
		return false
	}
	return true
}
