package syncer

import (
	"context"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// project returns what reads sessions of the project in the cloud by their ids.
func (e *Syncer) project() *gc.Project {
	return &gc.Project{Reader: e.Connect(), Identity: e.Identity}
}

// Family returns the ids named, and those of the sessions in the cloud that the catalogue
// connects with them: a session with the parent that it names. A parent connects its
// children also where the cloud does not have it, or has it no more.
func (e *Syncer) Family(ctx context.Context, ids []string) ([]string, error) {
	listed, near := map[string]bool{}, map[string][]string{}
	for entry, err := range e.Connect().Entries(ctx, e.UID(), "", time.Time{}) {
		if err != nil {
			return nil, err
		}
		listed[entry.Session] = !entry.Deleted
		if entry.Parent != "" {
			near[entry.Session] = append(near[entry.Session], entry.Parent)
			near[entry.Parent] = append(near[entry.Parent], entry.Session)
		}
	}
	met, all := map[string]bool{}, []string{}
	for next := slices.Clone(ids); len(next) > 0; next = next[1:] {
		id := next[0]
		if !met[id] && (listed[id] || slices.Contains(ids, id)) {
			all = append(all, id)
		}
		if !met[id] {
			next = append(next, near[id]...)
		}
		met[id] = true
	}
	return all, nil
}

// Purge removes sessions from the cloud with all that is stored of them. It is asked for
// by name, so no rule of the directory hinders it. Errors are as of [gc.Purger.Purge].
func (e *Syncer) Purge(ctx context.Context, ids []string) error {
	p := gc.Purger{
		Project: e.project(), Random: e.Random,
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
	born := s.st.Born
	if err := s.readHead(ctx); err != nil {
		return err
	}
	if s.st.Born != born { // a sync finds out what came of the lines here
		return nil
	}
	return s.forgetAnew()
}
