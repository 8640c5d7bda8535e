package hybrid

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/tip"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What a session's state is called in [Status].
const (
	UpToDate        = "UpToDate"        // the cloud has what is here
	Pending         = "Pending"         // something is to be sent, or has never been compared
	Pushed          = "Pushed"          // the last sync sent
	Pulled          = "Pulled"          // the last sync fetched
	Rewritten       = "Rewritten"       // the last sync replaced the history in the cloud, as after a rewind
	Diverged        = "Diverged"        // two devices added; both histories are kept
	Behind          = "Behind"          // the cloud has more, and somebody runs the session here
	DeletedRemotely = "DeletedRemotely" // deleted in the cloud; the files here stay and are not sent
	Deferred        = "Deferred"        // its files are in doubt, or the account asks to wait
	Blocked         = "Blocked"         // nothing goes until somebody acts; see Err
	Local           = "Local"           // it never leaves this machine
	Remote          = "Remote"          // it is in the cloud and was removed here
)

// Status is how a session stands. Local and Remote count messages; Remote is
// what the cloud had when it was last asked.
type Status struct {
	SessionID     string
	State         string
	Local, Remote int
	NextTry       time.Time // zero: no time is set
	Err           error     // why the last try failed
}

// Status returns how the sessions stand that are here or were: each as the
// last sync left it, or as its files and what is known of the tip say. It makes
// no request. Without a container every session is [Local].
func (s *Store) Status(ctx context.Context) ([]Status, error) {
	infos, err := s.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return nil, wrap("status", "", err)
	}
	all := make([]Status, 0, len(infos))
	for _, info := range infos {
		one, err := s.statusOf(ctx, info.ID)
		if err != nil {
			return all, wrap("status", info.ID, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// StatusOf is [Store.Status] of one session. The error Is
// [sessionstore.ErrNotFound] when it is not here.
func (s *Store) StatusOf(ctx context.Context, id string) (Status, error) {
	if !s.Exists(id) {
		return Status{}, wrap("status", id, sessionstore.ErrNotFound)
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
	if e.denied(ctx, id) {
		return Status{SessionID: id, State: Local}, nil
	}
	v := e.begin(id, want{})
	v.glancing = true
	last, known := e.told(id)
	if err := v.look(ctx); err != nil {
		return Status{SessionID: id, State: Deferred, Err: err}, nil
	}
	now := Status{SessionID: id, Local: int(v.main.end().N), State: Pending}
	deleted := false
	if len(v.st.Head.Doc) > 0 {
		if t, err := tip.Decode(v.st.Head.Doc, v.sid); err == nil {
			now.Remote, deleted = int(t.Transcript.N), t.Deleted
		}
	}
	settled := v.settled()
	switch {
	case known && last.Err != nil, known && !settled && last.Local == now.Local && last.State != UpToDate:
		last.Local, last.Remote = now.Local, now.Remote
		return last, nil
	case known && settled && (last.State == Rewritten || last.State == Diverged || last.State == DeletedRemotely):
		return last, nil
	case settled && deleted:
		now.State = DeletedRemotely
	case settled:
		now.State = UpToDate
	}
	return now, nil
}
