package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/replica"
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
	v := e.begin(id, Options{})
	if err := v.peek(ctx); err != nil {
		return Standing{}, err
	}
	s := Standing{Local: v.main.end().N, InStep: v.settled()}
	if t := v.st.Head.Head(v.sid); t != nil {
		s.Remote, s.Deleted = t.Transcript.N, t.Deleted
	}
	return s, nil
}

// Log is a log of a session as it lies on this machine.
type Log struct {
	Name   string // of the file in the session's directory
	Device string // that wrote it; "" for that file itself
	File   string // beside the states; "" for that file itself
}

// Logs returns the logs of a session that are here. It makes no request.
func (e *Syncer) Logs(ctx context.Context, id string) (all []Log, err error) {
	v := e.begin(id, Options{})
	if err := v.peek(ctx); err != nil {
		return nil, err
	}
	for _, l := range v.logs {
		all = append(all, Log{Name: l.name})
	}
	for st := range v.st.Cached {
		for _, l := range logNames {
			if l.kind == st.Kind() {
				all = append(all, Log{Name: l.name, Device: st.Device(), File: replica.LogFile(v.sid, st)})
			}
		}
	}
	return all, nil
}
