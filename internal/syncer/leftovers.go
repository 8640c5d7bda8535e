package syncer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// leftovers are the documents that a sync stored ahead of a head, in the versions that it
// stored. They wait for the head that leads to them. When the session is deleted instead,
// the sync removes them: a purge may have looked before they came. Another device that
// recreates the session stores documents with the same ids; these stay.
type leftovers struct {
	mu      sync.Mutex             // guards deletes
	deletes map[string][]cosmos.Op // by partition
}

// note notes a document that was stored.
func (l *leftovers) note(d segment.Document, version cosmos.ETag) {
	if l == nil || version == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deletes == nil {
		l.deletes = map[string][]cosmos.Op{}
	}
	l.deletes[d.PK] = append(l.deletes[d.PK], cosmos.Delete(d.ID, version))
}

// clear forgets them: the head leads to them now.
func (l *leftovers) clear() { l.deletes = nil }

// remove removes them, after the session was deleted.
func (l *leftovers) remove(ctx context.Context, c cosmos.Conn) error {
	for _, pk := range slices.Sorted(maps.Keys(l.deletes)) {
		if err := cosmos.Discard(ctx, c, pk, l.deletes[pk]); err != nil {
			return fmt.Errorf("remove what was stored for a deleted session: %w", err)
		}
		delete(l.deletes, pk)
	}
	return nil
}
