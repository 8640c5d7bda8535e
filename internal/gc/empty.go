package gc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// ErrRecreated tells that another device recreated a session while it was emptied.
var ErrRecreated = fmt.Errorf("%w: a device recreated the session meanwhile, and it stays", cosmos.ErrContended)

// Empty removes all documents of a session but its head t, which is its tombstone in the
// version etag, and returns the version that it has then. Documents of other tools stay. What
// it leaves when it is interrupted, the next call removes, and so does Prune.
//
// It lists, gives the tombstone another version, and then removes what it listed. A device
// that recreates the session replaces the version of the tombstone that it read before it
// stored anything. Where that fails, it stores all again, under names that were not listed.
// Where it is first, nothing is removed, and the error Is [ErrRecreated].
func Empty(ctx context.Context, s *Session, t *head.Head, etag cosmos.ETag) (cosmos.ETag, error) {
	names, err := stored(ctx, s.Reader, t.SID)
	if err != nil {
		return etag, fmt.Errorf("remove documents: %w", err)
	}
	if len(names) == 0 {
		return etag, nil
	}
	if etag, err = Renew(ctx, s, t, etag); err != nil {
		now, _, unread := s.Reader.Head(ctx, t.SID, remoteread.Known{})
		if errors.Is(err, cosmos.ErrLost) && unread == nil && now != nil && !now.Deleted {
			err = ErrRecreated
		}
		return "", err
	}
	p := &pruner{s: s}
	return etag, p.discard(ctx, names)
}

// Renew gives the tombstone t another version, if it still has the version etag: what was
// decided by that one comes to nothing. The error Is [cosmos.ErrLost] when it has not.
func Renew(ctx context.Context, s *Session, t *head.Head, etag cosmos.ETag) (cosmos.ETag, error) {
	p := &pruner{s: s, head: t}
	s.Head.ETag = etag
	err := p.swap(ctx, t.Clone())
	return s.Head.ETag, err
}

// Removable returns an error that Is [segment.ErrFormat] when a session has a document of
// another format: nothing of it is to be removed then.
func Removable(ctx context.Context, r *remoteread.Reader, sid string) error {
	_, err := stored(ctx, r, sid)
	return err
}

// stored lists all documents of a session but its head, whatever leads to them. The error Is [segment.ErrFormat] when one has another format.
func stored(ctx context.Context, r *remoteread.Reader, sid string) (names []string, err error) {
	for row, err := range r.Query(ctx, cosmos.Names(segment.SessionPK(sid))) {
		if err != nil {
			return nil, err
		}
		var d struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		}
		if json.Unmarshal(row, &d) != nil || !strings.HasPrefix(d.ID, sid+"-") || d.ID == segment.HeadID(sid) {
			continue
		}
		if err := segment.Probe(row, d.Type); errors.Is(err, segment.ErrFormat) {
			return nil, err
		}
		names = append(names, d.ID)
	}
	return names, nil
}
