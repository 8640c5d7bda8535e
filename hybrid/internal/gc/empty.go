package gc

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// ErrRecreated tells that another device recreated a session while it was emptied.
var ErrRecreated = fmt.Errorf("%w: a device recreated the session meanwhile, and it stays", remoteread.ErrContended)

// Empty removes all documents of a session but its head t, which is its tombstone in the
// version version, and returns the version that it has then. Documents of other tools stay. What
// it leaves when it is interrupted, the next call removes, and so does Prune.
//
// It lists, gives the tombstone another version, and then removes what it listed. A device
// that recreates the session replaces the version of the tombstone that it read before it
// stored anything. Where that fails, it stores all again, under names that were not listed.
// Where it is first, nothing is removed, and the error Is [ErrRecreated].
func Empty(ctx context.Context, s *Session, t *head.Head, version remote.Version) (remote.Version, error) {
	names, err := stored(ctx, s.Reader, t.SID)
	if err != nil {
		return version, fmt.Errorf("remove documents: %w", err)
	}
	if len(names) == 0 {
		return version, nil
	}
	if version, err = Renew(ctx, s, t, version); err != nil {
		now, _, unread := s.Reader.Head(ctx, t.SID, remoteread.Known{})
		if errors.Is(err, remoteread.ErrLost) && unread == nil && now != nil && !now.Deleted {
			err = ErrRecreated
		}
		return "", err
	}
	p := &pruner{s: s}
	return version, p.discard(ctx, names)
}

// Renew gives the tombstone t another version, if it still has the version version: what was
// decided by that one comes to nothing. The error Is [remoteread.ErrLost] when it has not.
func Renew(ctx context.Context, s *Session, t *head.Head, version remote.Version) (remote.Version, error) {
	p := &pruner{s: s, head: t}
	s.Head.Version = version
	err := p.swap(ctx, t.Clone(), nil)
	return s.Head.Version, err
}

// Removable returns an error that Is [segment.ErrFormat] when a session has a document of
// another format: nothing of it is to be removed then.
func Removable(ctx context.Context, r *remoteread.Reader, sid string) error {
	_, err := stored(ctx, r, sid)
	return err
}

// stored lists all documents of a session but its head, whatever leads to them. The error Is [segment.ErrFormat] when one has another format.
func stored(ctx context.Context, r *remoteread.Reader, sid string) (names []string, err error) {
	for o, err := range r.List(ctx, segment.SessionPK(sid), remote.Query{Prefix: sid + "-"}) {
		if err != nil {
			return nil, err
		}
		if o.Name == segment.HeadID(sid) {
			continue
		}
		if err := segment.CheckFormat(o.Label); err != nil {
			return nil, err
		}
		names = append(names, o.Name)
	}
	return names, nil
}
