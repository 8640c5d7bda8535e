package gc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// ErrRecreated tells that another device recreated a session while it was emptied.
var ErrRecreated = fmt.Errorf("%w: a device recreated the session meanwhile, and it stays", cosmos.ErrContended)

// Empty removes all documents of a session but its head t, which is its tombstone in the
// version etag. Documents of other tools stay. What it leaves when it is interrupted, the
// next call removes, and so does Prune.
//
// It lists, gives the tombstone another version, and then removes the versions that it
// listed. A device that recreates the session replaces the version of the tombstone that it
// read before it stored anything. Where that fails, it stores all again, in versions that
// were not listed. Where it is first, nothing is removed, and the error Is [ErrRecreated].
func Empty(ctx context.Context, r *remote.Reader, t *head.Head, etag cosmos.ETag) error {
	parts, err := stored(ctx, r, t)
	if err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	if !slices.ContainsFunc(parts, func(p partition) bool { return len(p.deletes) > 0 }) {
		return nil
	}
	if _, err := Renew(ctx, r, t, etag); err != nil {
		now, _, unread := r.Head(ctx, t.SID, remote.Known{})
		if errors.Is(err, cosmos.ErrLost) && unread == nil && now != nil && !now.Deleted {
			err = ErrRecreated
		}
		return err
	}
	// The last partition goes first: a call that was interrupted leaves none behind an
	// empty one, where the next call would not look.
	for _, part := range slices.Backward(parts) {
		if err := cosmos.Discard(ctx, r, part.pk, part.deletes); err != nil {
			return fmt.Errorf("remove documents: %w", err)
		}
	}
	return nil
}

// Removable returns an error that Is [segment.ErrFormat] when a session has a document of
// another format: nothing of it is to be removed then.
func Removable(ctx context.Context, r *remote.Reader, sid string) error {
	_, err := stored(ctx, r, &head.Head{SID: sid})
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

// stored lists all documents of a session but its head t, whatever leads to them. A
// stream may have partitions that t does not know of, as of a history that was
// rewritten: they follow each other without a gap.
func stored(ctx context.Context, r *remote.Reader, t *head.Head) ([]partition, error) {
	first, found, err := storedIn(ctx, r, t.SID, segment.SessionPK(t.SID))
	if err != nil {
		return nil, err
	}
	parts := []partition{first}
	streams := map[segment.Stream]bool{segment.Transcript: true}
	for st := range t.Logs {
		streams[st] = true
	}
	for st := range found {
		streams[st] = true
	}
	for _, st := range slices.Sorted(maps.Keys(streams)) {
		known := t.Logs[st].Buckets
		if st == segment.Transcript {
			known = t.Transcript.Buckets
		}
		for b := 1; ; b++ {
			part, _, err := storedIn(ctx, r, t.SID, segment.StreamPK(t.SID, st, b))
			if err != nil {
				return nil, err
			}
			if len(part.deletes) == 0 && b >= known {
				break
			}
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// storedIn lists the documents of a session in one partition, and the streams that
// segments there are of.
func storedIn(ctx context.Context, r *remote.Reader, sid, pk string) (part partition, streams map[segment.Stream]bool, err error) {
	part, streams = partition{pk: pk}, map[segment.Stream]bool{}
	for row, err := range r.Query(ctx, cosmos.Names(pk)) {
		if err != nil {
			return part, nil, err
		}
		var d struct {
			ID     string      `json:"id"`
			Type   string      `json:"type"`
			Stream string      `json:"st"`
			ETag   cosmos.ETag `json:"_etag"`
		}
		if json.Unmarshal(row, &d) != nil || !strings.HasPrefix(d.ID, sid+"-") || d.ID == segment.HeadID(sid) {
			continue
		}
		if err := segment.Probe(row, d.Type); errors.Is(err, segment.ErrFormat) {
			return part, nil, err
		}
		part.deletes = append(part.deletes, cosmos.Delete(d.ID, d.ETag))
		if st, err := segment.ParseStream(d.Stream); err == nil {
			streams[st] = true
		}
	}
	return part, streams, nil
}
