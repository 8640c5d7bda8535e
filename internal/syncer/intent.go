package syncer

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// ownTombstone reports whether this device made t a tombstone to send the session anew.
func (s *session) ownTombstone(t *head.Head) bool {
	return t != nil && s.st.Anew != nil && t.Op == s.st.Anew.Op
}

// keptLog reports whether a stream is one of those that lie in the bookkeeping to be sent.
func (s *session) keptLog(st segment.Stream) bool {
	if s.st.Anew == nil {
		return false
	}
	_, kept := s.st.Anew.Logs[st]
	return kept
}

// anewIsOver reports whether nothing is left to do of the intent to send the session anew:
// by the head t it was, or the tombstone was never written, or is another one.
func (s *session) anewIsOver(t *head.Head) bool {
	in := s.st.Anew
	switch {
	case in == nil || t == nil:
		return false
	case t.Deleted:
		return t.Op != in.Op
	}
	return t.Born != in.Born || t.Revision >= in.Revision
}

// forgetAnew gives up the intent to send the session anew, and keeps what is known.
func (s *session) forgetAnew() error {
	in := s.st.Anew
	s.st.Anew = nil
	err := s.States.Save(s.sid, s.st)
	if in == nil || err != nil {
		return err
	}
	for st := range in.Logs {
		if _, held := s.st.Cached[st]; !held {
			err = errors.Join(err, s.States.Remove(replica.LogFile(s.sid, st)))
		}
	}
	return err
}
