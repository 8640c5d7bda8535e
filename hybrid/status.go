package hybrid

import (
	"context"
	"errors"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/show"
	"github.com/amplifier-go/sessionstorage/internal/syncer"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What a session's state is called in [Status].
const (
	UpToDate        = syncer.UpToDate        // the cloud has what is here
	Pending         = syncer.Pending         // something is to be sent, or has never been compared
	Pushed          = syncer.Pushed          // the last sync sent
	Pulled          = syncer.Pulled          // the last sync fetched
	Rewritten       = syncer.Rewritten       // the last sync replaced the history in the cloud, as after a rewind
	Diverged        = syncer.Diverged        // two devices added; both histories are kept
	Behind          = syncer.Behind          // the cloud has more, and somebody runs the session here
	DeletedRemotely = syncer.DeletedRemotely // deleted in the cloud; the files here stay and are not sent
	Deferred        = syncer.Deferred        // its files are in doubt, or the account does not serve it just now; see Err and NextTry
	Blocked         = syncer.Blocked         // nothing goes until somebody acts; see Err
	Local           = syncer.Local           // it never leaves this machine
	KeptLate        = syncer.KeptLate        // a rule that came after it was sent keeps it on this machine: the cloud has what was sent, until DeleteRemote or Purge
	Remote          = syncer.Remote          // it is in the cloud and was removed here
)

// Status is how a session stands. Local and Remote count messages; Remote is
// what the cloud had when it was last asked.
type Status struct {
	SessionID     string
	State         string
	Local, Remote int
	NextTry       time.Time // zero: no time is set
	Err           error     // why the last try failed; of one that is KeptLate what removes it from the cloud
}

// Status returns how the sessions stand that are here or were: each as the last sync left
// it, or as its files and what is known of the head say. It makes no request. Only the
// Status of another device tells what that device could not send. Without a remote
// every session is [Local].
func (s *Store) Status(ctx context.Context) ([]Status, error) {
	if s.engine == nil {
		infos, err := s.List(ctx, &sessionstore.ListOptions{All: true})
		all := make([]Status, len(infos))
		for i, info := range infos {
			all[i] = Status{SessionID: info.ID, State: Local}
		}
		return all, wrap("status", "", err)
	}
	f, err := s.engine.scanAll(ctx)
	if err != nil {
		return nil, wrap("status", "", err)
	}
	all := make([]Status, 0, len(f.sessions))
	for _, at := range f.sessions {
		known, ok := s.engine.Table.Session(at.Name)
		if ok && !f.changed[at.Name] {
			all = append(all, s.engine.statusKnown(ctx, &known))
			continue
		}
		one, err := s.engine.statusOf(ctx, at.Name)
		if err != nil {
			return all, wrap("status", at.Name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// StatusOf is [Store.Status] of one session. The error Is
// [sessionstore.ErrNotFound] when it is not here.
func (s *Store) StatusOf(ctx context.Context, id string) (Status, error) {
	if !s.Exists(id) {
		return Status{}, wrap("status", id, show.Errorf(sessionstore.ErrNotFound, "there is no such session"))
	}
	one, err := s.statusOf(ctx, id)
	return one, wrap("status", id, err)
}

func (s *Store) statusOf(ctx context.Context, id string) (Status, error) {
	if s.engine == nil {
		return Status{SessionID: id, State: Local}, nil
	}
	return s.engine.statusOf(ctx, id)
}

// statusOf compares a session's files with what is known.
func (e *engine) statusOf(ctx context.Context, id string) (Status, error) {
	if e.Denied(ctx, id) {
		return e.statusKept(ctx, id), nil
	}
	if err := e.Held(ctx, id); err != nil {
		return Status{SessionID: id, State: Blocked, Err: err}, nil
	}
	is, err := e.Inspect(ctx, id)
	if err != nil {
		return Status{SessionID: id, State: Deferred, Err: err}, nil
	}
	now := Status{SessionID: id, Local: int(is.Local), Remote: int(is.Remote), State: Pending}
	return e.statusAs(now, is.InStep, is.Deleted), nil
}

// statusKept is how a session stands that a rule keeps here.
func (e *engine) statusKept(ctx context.Context, id string) Status {
	now := Status{SessionID: id, State: Local, Err: e.rulesErr()}
	remote, sent := e.SentBefore(id)
	if !sent || now.Err != nil {
		return now
	}
	now.State, now.Remote, now.Err = KeptLate, int(remote), syncer.ErrKeptLate
	if is, err := e.Inspect(ctx, id); err == nil {
		now.Local = int(is.Local)
	}
	return now
}

// rulesErr returns why all sessions stay here; nil: by rules alone.
func (e *engine) rulesErr() error { return errors.Join(e.rulesUnread, e.States.Rules().Err()) }

// statusKnown is how a session stands that needs no sync.
func (e *engine) statusKnown(ctx context.Context, s *replica.Session) Status {
	if s.State == replica.Denied {
		if _, entered := e.Table.Entry(e.SID(s.ID)); entered {
			return e.statusKept(ctx, s.ID)
		}
		return Status{SessionID: s.ID, State: Local, Err: e.rulesErr()}
	}
	return e.statusAs(Status{SessionID: s.ID, Local: int(s.N), Remote: int(s.Remote), State: Pending}, true, s.State == replica.Deleted)
}

// statusAs completes a status by what the last sync of this store told.
func (e *engine) statusAs(now Status, settled, deleted bool) Status {
	last, known := e.told(now.SessionID)
	known = known && last.State != Local && last.State != KeptLate && (last.State != Deferred || last.set || e.Stats.AsNoted(now.SessionID))
	switch {
	case known && last.Err != nil, known && !settled && last.Local == now.Local && last.State != UpToDate:
		last.Local, last.Remote = now.Local, now.Remote
		return last.Status
	case known && settled && (last.State == Rewritten || last.State == Diverged || last.State == DeletedRemotely):
		return last.Status
	case settled && deleted:
		now.State = DeletedRemotely
	case settled:
		now.State = UpToDate
	}
	return now
}
