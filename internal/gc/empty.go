package gc

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Empty removes all documents of a session but its head t, which is its tombstone.
// Documents of other tools stay. What it leaves when it is interrupted, the next call
// removes, and so does Prune.
func Empty(ctx context.Context, r *remote.Reader, t *head.Head) error {
	parts, err := stored(ctx, r, t)
	if err != nil {
		return fmt.Errorf("remove documents: %w", err)
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
			ID     string `json:"id"`
			Stream string `json:"st"`
		}
		if json.Unmarshal(row, &d) != nil || !strings.HasPrefix(d.ID, sid+"-") || d.ID == segment.HeadID(sid) {
			continue
		}
		part.deletes = append(part.deletes, cosmos.Delete(d.ID, ""))
		if st, err := segment.ParseStream(d.Stream); err == nil {
			streams[st] = true
		}
	}
	return part, streams, nil
}
