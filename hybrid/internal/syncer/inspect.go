package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// Standing is how a session stands by its files and what is known of the cloud.
type Standing struct {
	Local, Remote int64 // messages
	InStep        bool  // both sides have the same
	Deleted       bool  // it was deleted in the cloud
}

// Inspect tells how a session that is here stands. It makes no request and changes
// nothing.
func (e *Syncer) Inspect(ctx context.Context, id string) (Standing, error) {
	l := e.local(id, Options{})
	if err := l.peek(ctx); err != nil {
		return Standing{}, err
	}
	s := Standing{Local: l.main.End().N, InStep: l.settled()}
	if t := l.st.Head.Head(l.sid); t != nil {
		s.Remote, s.Deleted = t.Transcript.N, t.Deleted
	}
	return s, nil
}

// SentBefore reports whether the cloud has a session that a rule keeps here, and how many
// messages of it, as far as that is known. It makes no request.
func (e *Syncer) SentBefore(id string) (messages int64, sent bool) {
	return e.session(id, Options{}).stillThere()
}

func (s *session) stillThere() (messages int64, sent bool) {
	t := s.st.Head.Head(s.sid)
	if entry, ok := s.Table.Entry(s.sid); ok && (t == nil || t.Revision < entry.Revision) {
		return entry.N, !entry.Deleted
	}
	if t == nil || t.Deleted {
		return 0, false
	}
	return t.Transcript.N, true
}

// Log is a log of a session as it lies on this machine.
type Log struct {
	Name   string // of the file in the session's directory
	Device string // that wrote it; "" for that file itself
	File   string // beside the states; "" for that file itself
}

// Logs returns the logs of a session that are here. It makes no request.
func (e *Syncer) Logs(ctx context.Context, id string) (all []Log, err error) {
	l := e.local(id, Options{})
	if err := l.peek(ctx); err != nil {
		return nil, err
	}
	for _, log := range l.logs {
		all = append(all, Log{Name: log.Name})
	}
	for st := range l.st.Cached {
		for _, log := range logNames {
			if log.kind == st.Kind() {
				all = append(all, Log{Name: log.name, Device: st.Device(), File: replica.LogFile(l.sid, st)})
			}
		}
	}
	return all, nil
}
