package hybrid

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Remote returns the sessions of the project that the remote has or had, the most recently
// changed first. The list may be half a minute behind, and names a session that is gone
// there for up to two weeks. It is read from the catalogue alone; [Store.Preview] returns
// more about one session. It is kept on this device, so that a call asks only for what
// changed since the last one: one request, where little did. After an error the list has
// the entries known so far, and the next call continues where this one stopped.
func (s *Store) Remote(ctx context.Context) ([]RemoteSession, error) {
	if s.engine == nil {
		return nil, wrap("list the remote", "", ErrNoRemote)
	}
	e := s.engine
	ctx = e.asked(ctx)
	_, err := e.readCatalogue(ctx)
	var all []RemoteSession
	for c := range e.Table.Entries() {
		all = append(all, RemoteSession{
			SessionID: c.Session, Project: e.opts.Project, Parent: c.Parent, Name: c.Name, Updated: time.Unix(0, c.Updated).UTC(), Messages: int(c.N),
			Turns: c.Turns, Revision: c.Revision, Removed: c.Deleted, Conflict: c.Conflict,
		})
	}
	slices.SortFunc(all, func(a, b RemoteSession) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.SessionID, b.SessionID))
	})
	return all, wrap("list the remote", "", err)
}

// KeepLocal keeps a session from ever leaving this machine, until [Store.Release]. It is
// durable when it returns. A sync that is under way is not made visible any more. Lines
// that were sent before stay in the remote until [Store.Remove], and as long its status
// is [KeptLate]. The session need not exist yet. Sessions whose parent stays here
// (parent_id, parent_session_id, fork.source_session_id) stay, too, whether their
// metadata.json names the parent or the one in context-intelligence. KeepLocal reads the
// metadata of all sessions, to remember these. It needs no remote.
func (s *Store) KeepLocal(ctx context.Context, id string) error {
	return s.rule(ctx, "keep local", id, true, func(b *private.Book) error { return b.SetLocalOnly(id, true) })
}

// Release lets a session leave this machine, whatever its parent does and whatever name it
// once had, unless Options.Private keeps its id or its name. It ends that a session is held
// back. The id of a parent that stays here is not sent with its metadata, nor the
// fork_cost_boundary, which has it; its messages and events are sent as they are. It is durable when it
// returns. A hidden session is not released: the error Is [ErrLocal]. It needs no remote.
func (s *Store) Release(ctx context.Context, id string) error {
	return s.rule(ctx, "release", id, false, func(b *private.Book) error { return b.Release(id) })
}

// Preview is what the remote has of a session, in short.
type Preview struct {
	SessionID   string                 `json:"session_id"`
	Name        string                 `json:"name"`        // of the metadata; "" for none
	Description string                 `json:"description"` // of the metadata; "" for none, and where metadata.json has more than 4 KB
	Updated     time.Time              `json:"updated"`
	Turns       int                    `json:"turns"` // messages of the user
	Count       int                    `json:"n"`     // messages
	Messages    []sessionstore.Message `json:"messages"`
}

// Preview returns the name and turns of a session in the remote, and the messages at its end:
// those that the last sync of a device sent together, or more after [Store.Prune], of 8 MB at
// most. They are in the form in which they were sent, and their hashes are checked. Preview
// changes nothing here, and the session need not be here. It reads the session's head and one
// segment, however long the session is.
//
// The error Is [sessionstore.ErrNotFound] when the remote does not have the session,
// [ErrRemoved] when it was removed there, and [ErrUnreachable] when the remote does not
// answer. It Is [ErrDamaged] when the segment is missing or cannot be read: then the preview
// has all but Messages.
func (s *Store) Preview(ctx context.Context, id string) (Preview, error) {
	p := Preview{SessionID: id, Messages: []sessionstore.Message{}}
	if s.engine == nil {
		return p, wrap("preview", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	t, last, err := s.engine.Preview(ctx, id)
	if t != nil {
		p.Name, p.Description, p.Updated, p.Turns, p.Count = t.Name(), t.Description(), t.Updated, t.Transcript.Turns, int(t.Transcript.N)
		p.Messages = append(p.Messages, last...)
	}
	return p, wrap("preview", id, err)
}

// History is a history of a session that is not its main line: a branch, which a device
// had when another went on, or a former head that a rewrite replaced.
type History struct {
	ID       string    // of this history, for [Store.Restore]
	Messages int       // in all
	Common   int       // that it shares with the head it left; 0 where that is not known
	Device   string    // that wrote it, or replaced it
	At       time.Time // when it was left
	Why      string    // branch, rewrite or restore
	KeptAs   string    // session that holds it on that device; "" for none

	extent head.Extent
}

// Histories returns the histories of a session that are not its main line, the latest
// first, as long as the remote keeps them. When the list of them is damaged, or lags, the
// error Is [ErrDamaged], and the histories that could be read are returned.
func (s *Store) Histories(ctx context.Context, id string) ([]History, error) {
	if s.engine == nil {
		return nil, wrap("list histories", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	found, err := s.engine.Histories(ctx, id)
	var all []History
	for _, h := range found {
		all = append(all, History{
			ID:       h.Extent.Hash.String()[:16], // without the key of the session, with which the names of all documents begin
			Messages: int(h.Extent.N), Common: int(h.Common), Device: h.Device, At: h.At, Why: h.Why, KeptAs: h.KeptAs, extent: h.Extent,
		})
	}
	return all, wrap("list histories", id, err)
}

// Restore makes a history the session's main line, on every device; the former main line
// becomes a former head. Lines that this device has not sent yet are sent first. Where a
// program runs the session here, its files follow later. h must be a History that
// Histories returned. The error Is [ErrLocal], [ErrHeld] or [ErrRedaction] where the
// rules hold the session back.
func (s *Store) Restore(ctx context.Context, id string, h History) error {
	if s.engine == nil {
		return wrap("restore", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	if s.engine.Core.Has(id) {
		if _, err := s.Sync(ctx, id); err != nil {
			return err
		}
	}
	return wrap("restore", id, s.engine.Restore(ctx, id, h.extent))
}

// DeviceLog is a log of a session as one device wrote it. Each device has its own, so a
// session that went from one to another has several; together, in the order of their
// times, they are the complete log.
type DeviceLog struct {
	Name   string // of the file, as events.jsonl
	Device string // that wrote it; "" for the file in the session's directory
	Path   string // of the lines on this machine; not to be written
}

// Logs returns the paths of the logs of a session on this machine: those in its directory
// first, then the logs of other devices, as the last [Store.Pull] brought them. Where the
// file in the directory begins with another device's log, the file of that device holds
// only the lines that follow. It makes no request.
func (s *Store) Logs(ctx context.Context, id string) ([]DeviceLog, error) {
	if s.engine == nil {
		return nil, wrap("list logs", id, ErrNoRemote)
	}
	found, err := s.engine.Logs(ctx, id)
	if err != nil {
		return nil, wrap("list logs", id, err)
	}
	var all, cached []DeviceLog
	for _, l := range found {
		if l.File == "" {
			all = append(all, DeviceLog{Name: l.Name, Path: filepath.Join(s.Dir(), id, l.Name)})
			continue
		}
		path := filepath.Join(s.Dir(), sessiondir.Bookkeeping, statesDir, l.File)
		cached = append(cached, DeviceLog{Name: l.Name, Device: l.Device, Path: path})
	}
	slices.SortFunc(cached, func(a, b DeviceLog) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path)) })
	return append(all, cached...), nil
}
