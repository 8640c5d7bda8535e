package syncer

import (
	"errors"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
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
	if t.Born == in.Born {
		return t.Revision >= in.Revision
	}
	for st := range in.Logs {
		if t.Logs[st].N == 0 { // it is to be sent
			return false
		}
	}
	return true
}

// forgetAnew gives up the intent to send the session anew, and keeps what is known.
func (s *session) forgetAnew() error {
	in := s.st.Anew
	s.st.Anew = nil
	err := s.States.Save(s.sid, s.st)
	if in == nil || err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(in.Logs)) {
		if _, held := s.st.Cached[st]; !held {
			err = errors.Join(err, s.States.Remove(replica.LogFile(s.sid, st)))
		}
	}
	return err
}
