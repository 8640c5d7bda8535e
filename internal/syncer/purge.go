package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// family begins a piece of work on sessions that hold lines of each other.
func (e *Syncer) family() *gc.Family {
	return &gc.Family{Reader: e.Connect(""), Project: e.Identity}
}

// Family returns the ids of the sessions in the cloud that hold lines of those named,
// or whose lines these hold, and the ids named.
func (e *Syncer) Family(ctx context.Context, ids []string) (all []string, err error) {
	f := e.family()
	if err := f.Read(ctx); err != nil {
		return nil, err
	}
	members, err := f.Of(ctx, ids)
	for _, m := range members {
		if m.Session != m.SID {
			all = append(all, m.Session)
		}
	}
	return all, err
}

// Purge removes sessions from the cloud with all that is stored of them. It is asked for
// by name, so no rule of the directory hinders it. Errors are as of [gc.Purger.Purge].
func (e *Syncer) Purge(ctx context.Context, ids []string) error {
	p := gc.Purger{
		Family: e.family(), Random: e.Random,
		Writer: head.Writer{Device: e.Device.ID, Host: e.Device.Host, Library: library},
	}
	if err := p.Purge(ctx, ids); err != nil {
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
	s := e.sides(id, Options{})
	if s.st.IsNew() {
		return nil
	}
	if err := s.readHead(ctx); err != nil {
		return err
	}
	return s.States.Save(s.sid, s.st)
}
