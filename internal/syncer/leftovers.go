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
	mu  sync.Mutex                        // guards ids
	ids map[string]map[string]cosmos.ETag // by partition
}

// note notes a document that was stored.
func (l *leftovers) note(d segment.Document, version cosmos.ETag) {
	if l == nil || version == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]map[string]cosmos.ETag{}
	}
	if l.ids[d.PK] == nil {
		l.ids[d.PK] = map[string]cosmos.ETag{}
	}
	l.ids[d.PK][d.ID] = version
}

// clear forgets them: the head leads to them now.
func (l *leftovers) clear() { l.ids = nil }

// remove removes them, after the session was deleted.
func (l *leftovers) remove(ctx context.Context, c cosmos.Conn) error {
	for _, pk := range slices.Sorted(maps.Keys(l.ids)) {
		var deletes []cosmos.Op
		for _, id := range slices.Sorted(maps.Keys(l.ids[pk])) {
			deletes = append(deletes, cosmos.Delete(id, l.ids[pk][id]))
		}
		if err := cosmos.Discard(ctx, c, pk, deletes); err != nil {
			return fmt.Errorf("remove what was stored for a deleted session: %w", err)
		}
		delete(l.ids, pk)
	}
	return nil
}
