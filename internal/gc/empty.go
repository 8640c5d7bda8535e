package gc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// ErrRecreated tells that another device recreated a session while it was emptied.
var ErrRecreated = fmt.Errorf("%w: a device recreated the session meanwhile, and it stays", cosmos.ErrContended)

// Empty removes all documents of a session but its head t, which is its tombstone in the
// version etag, and returns the version that it has then. Documents of other tools stay. What it leaves when it is interrupted, the
// next call removes, and so does Prune.
//
// It lists, gives the tombstone another version, and then removes the versions that it
// listed. A device that recreates the session replaces the version of the tombstone that it
// read before it stored anything. Where that fails, it stores all again, in versions that
// were not listed. Where it is first, nothing is removed, and the error Is [ErrRecreated].
func Empty(ctx context.Context, r *remote.Reader, t *head.Head, etag cosmos.ETag) (cosmos.ETag, error) {
	deletes, err := stored(ctx, r, t.SID)
	if err != nil {
		return etag, fmt.Errorf("remove documents: %w", err)
	}
	if len(deletes) == 0 {
		return etag, nil
	}
	if etag, err = Renew(ctx, r, t, etag); err != nil {
		now, _, unread := r.Head(ctx, t.SID, remote.Known{})
		if errors.Is(err, cosmos.ErrLost) && unread == nil && now != nil && !now.Deleted {
			err = ErrRecreated
		}
		return "", err
	}
	if err := cosmos.Discard(ctx, r, segment.SessionPK(t.SID), deletes); err != nil {
		return etag, fmt.Errorf("remove documents: %w", err)
	}
	return etag, nil
}

// Removable returns an error that Is [segment.ErrFormat] when a session has a document of
// another format: nothing of it is to be removed then.
func Removable(ctx context.Context, r *remote.Reader, sid string) error {
	_, err := stored(ctx, r, sid)
	return err
}

// Renew gives the tombstone t another version, if it still has the version etag: what was
// decided by that one comes to nothing. The error Is [cosmos.ErrLost] when it has not.
func Renew(ctx context.Context, r *remote.Reader, t *head.Head, etag cosmos.ETag) (cosmos.ETag, error) {
	doc, err := t.Encode()
	if err != nil {
		return "", err
	}
	a := r.Batch(ctx, doc.PK, cosmos.Swap(doc.ID, doc.Body, etag))
	return a.ETag(0), a.Lost()
}

// stored lists all documents of a session but its head, whatever leads to them, as they
// are to be removed. The error Is [segment.ErrFormat] when one has another format.
func stored(ctx context.Context, r *remote.Reader, sid string) (deletes []cosmos.Op, err error) {
	for row, err := range r.Query(ctx, cosmos.Names(segment.SessionPK(sid))) {
		if err != nil {
			return nil, err
		}
		var d struct {
			ID   string      `json:"id"`
			Type string      `json:"type"`
			ETag cosmos.ETag `json:"_etag"`
		}
		if json.Unmarshal(row, &d) != nil || !strings.HasPrefix(d.ID, sid+"-") || d.ID == segment.HeadID(sid) {
			continue
		}
		if err := segment.Probe(row, d.Type); errors.Is(err, segment.ErrFormat) {
			return nil, err
		}
		deletes = append(deletes, cosmos.Delete(d.ID, d.ETag))
	}
	return deletes, nil
}
