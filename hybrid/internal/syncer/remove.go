package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
)

// project returns what reads sessions of the project in the cloud by their ids.
func (e *Syncer) project() *gc.Project {
	return &gc.Project{Reader: e.Connect(), Identity: e.Identity}
}

// Remove removes sessions from the cloud with all that is stored of them. It is asked for
// by name, so no rule of the directory hinders it. Errors are as of [gc.Remover.Remove].
func (e *Syncer) Remove(ctx context.Context, ids []string) error {
	p := gc.Remover{
		Project: e.project(), Random: e.Random,
		Writer: head.Writer{Device: e.Device.ID, Host: e.Device.Host, Library: library},
	}
	if err := p.Remove(ctx, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := e.noteHead(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// noteHead takes note of the head that the cloud has now of a session that is known
// here.
func (e *Syncer) noteHead(ctx context.Context, id string) error {
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	s := e.work(id, Options{})
	if s.st.IsNew() {
		return nil
	}
	born := s.st.Born
	if err := s.readHead(ctx); err != nil {
		return err
	}
	if t := s.cloud.head; t != nil && t.Deleted && t.Writer.Device == s.Device.ID {
		s.st.Cat.Revision = max(s.st.Cat.Revision, t.Revision) // its entry was written with it
	}
	if s.st.Born != born { // a sync finds out what came of the lines here
		return nil
	}
	return s.forgetAnew()
}
