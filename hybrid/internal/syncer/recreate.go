package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// # Recreate
//
// Recreate sends a session as if the cloud never had it, under today's rules and a new
// Born. Where the cloud has it, it goes in four steps:
//
//	bring   a sync, with the logs of all devices: afterwards the cloud has nothing that is
//	        not here, but former histories. Otherwise it is refused, and nothing is removed.
//	bury    the intent is stored here, then the head becomes a tombstone, if it still is
//	        the head that was brought. If not, it begins again with the first step.
//	empty   all documents go but the tombstone, see [gc.Empty]
//	send    a sync for which a tombstone is no head: the first head replaces the version of
//	        the tombstone that was read. It counts on nothing that was stored before.
//
// The state stays as it was until the new head is stored, so a run that is killed knows
// the forms in which lines were sent, and where the logs of others are. Each later sync
// of this device that meets its own tombstone continues with the third step, and so does
// a Recreate that meets any tombstone: its writer may not have removed all documents.
//
// Of two devices that do it one is first; the other one, and every device with another
// Born, compares all lines; see reborn.go. A removal that comes between gives the
// tombstone another version, and another name of the change; see package gc. The head has
// a later revision than the tombstone, so that all devices see it in the catalogue.

// passes reports whether this sync replaces the head t, which was read, by the head of a
// session that is born anew.
func (s *work) passes(t *head.Head) bool {
	if t != nil && !t.Deleted || !s.local.present {
		return false
	}
	return s.recreates || s.resumes && s.ownTombstone(t)
}

// passOver makes the next head replace the tombstone that was read, or is known. was is
// the state that stays until then.
func (s *work) passOver(ctx context.Context, was *replica.SessionState) error {
	c := s.cloud
	dead := &head.Head{}
	if c.head != nil {
		dead = c.head.Clone()
	}
	dead.Deleted = false
	if err := s.rulesHold(dead); err != nil {
		return err
	}
	if s.ownTombstone(c.head) && was.Base != nil && was.Base.N > 0 && !s.local.main.There {
		return fmt.Errorf("%w: the transcript is gone", ErrDeferred)
	}
	if c.version != "" {
		version, err := gc.Empty(ctx, c.gc(), c.head, c.version)
		if errors.Is(err, gc.ErrRecreated) {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		if err != nil {
			return err
		}
		c.version = version
	}
	if c.version == "" { // the tombstone is gone, but the catalogue may have its entry
		entry, err := c.link.EntryOf(ctx, s.UID(), s.sid)
		if err != nil {
			return err
		}
		if entry != nil {
			dead.Revision = max(dead.Revision, entry.Revision)
		}
	}
	c.head, c.dead, s.passed, s.undo = nil, dead, true, was
	s.st.Estrange("")
	return s.reborn(ctx, was)
}

// restoreState restores the state from before a round that passed over a tombstone and
// did not come to a new head.
func (s *work) restoreState() {
	if s.undo != nil {
		*s.st, s.undo = *s.undo, nil
	}
}

// ownTombstone reports whether this device made t a tombstone to send the session anew.
func (s *session) ownTombstone(t *head.Head) bool {
	return t != nil && s.st.Anew != nil && t.Op == s.st.Anew.Op
}

// keptLog reports whether a stream is one of the logs in the bookkeeping that are to be
// sent.
func (s *session) keptLog(st segment.Stream) bool {
	if s.st.Anew == nil {
		return false
	}
	_, kept := s.st.Anew.Logs[st]
	return kept
}

// anewIsOver reports whether the intent to send the session anew is settled by the head
// t: it was done, or the tombstone was never written, or is another one.
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

// forgetAnew gives up the intent to send the session anew, and keeps the rest of the
// state.
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

// bury replaces the head of a session by a tombstone, after the session was brought and
// before it is sent anew.
func (v *work) bury(ctx context.Context) error {
	if err := v.mayBury(ctx); err != nil {
		return err
	}
	logs, err := v.keepLogs(ctx)
	if err != nil {
		return err
	}
	p := &draft{next: v.tombstone(), uploads: v.cloud.uploader()}
	p.next.Anew.Rules = v.redaction()
	v.st.Anew = &replica.Anew{Op: p.next.Op, Born: p.next.Born, Revision: p.next.Revision, Logs: logs}
	v.Table.Reopen(v.id) // so that the background goes on with it
	if err := errors.Join(v.Table.Save(ctx), v.States.Save(v.sid, v.st)); err != nil {
		return err
	}
	return v.commit(ctx, p)
}

// mayBury returns an error when a session must stay in the cloud: a part of it is not
// here, or may not leave.
func (v *work) mayBury(ctx context.Context) error {
	is := v.Privacy.Judge(ctx, v.id)
	switch {
	case is.Kept:
		return privacy.ErrLocal
	case is.Held != nil:
		return is.Held
	}
	if err := errors.Join(v.Privacy.RedactionHolds(), v.cloud.rulesHold()); err != nil {
		return err
	}
	if err := v.cloud.lacks(); err != nil {
		return fmt.Errorf("a part in the remote cannot be brought here, and would be lost: %w", err)
	}
	if v.out.State == Behind || v.local.main.Point() != v.cloud.head.Transcript.Point() {
		return errors.Join(fmt.Errorf("%w: what the remote has more of it could not be brought here", ErrDeferred), v.out.Why)
	}
	if _, err := v.cloud.link.EntryOf(ctx, v.UID(), v.sid); err != nil { // of another format
		return err
	}
	if err := gc.Removable(ctx, v.cloud.link, v.sid); err != nil {
		return err
	}
	return v.cloud.branchesStay(ctx)
}

// branchesStay returns an error where a branch has no session of its own in the cloud.
func (c *cloud) branchesStay(ctx context.Context) error {
	all, err := c.histories(ctx)
	if err != nil {
		return err
	}
	for _, h := range all {
		if !h.Branch() {
			continue
		}
		if stays, err := c.branchStays(ctx, h.Extent.Point(), h.KeptAs); err != nil {
			return err
		} else if !stays {
			return fmt.Errorf("%w: the branch of %d messages from device %s has no session of its own in the remote: "+
				"sync the session that keeps it, or restore it first; Remove and then Recreate gives it up", ErrDeferred, h.Extent.N, h.Device)
		}
	}
	return nil
}

// branchStays reports whether the history that ends at p is in the cloud without the branch.
func (c *cloud) branchStays(ctx context.Context, p segment.Point, keptAs string) (bool, error) {
	if p == c.head.Transcript.Point() {
		return true, nil
	}
	if p.N < c.head.Transcript.N {
		if on, err := c.has(ctx, p, c.head.Transcript.Point()); on || err != nil {
			return on, err
		}
	}
	if keptAs == "" {
		return false, nil
	}
	t, _, err := c.link.Head(ctx, c.SID(keptAs), remoteread.Known{})
	return t != nil && !t.Deleted && t.Transcript.N >= p.N, err
}

// project returns a reader of the project's sessions in the cloud by their ids.
func (e *Syncer) project() *gc.Project {
	return &gc.Project{Reader: e.Connect(), Identity: e.Identity}
}

// Remove removes sessions from the cloud with all their documents. It is called by name,
// so no rule of the directory hinders it. Errors are as of [gc.Remover.Remove].
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

// noteHead records the present head in the cloud of a session that is known here.
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
	if s.st.Born != born { // a sync compares the lines here
		return nil
	}
	return s.forgetAnew()
}
