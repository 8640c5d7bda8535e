package syncer

import (
	"context"
	"fmt"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// leftovers are the documents that a sync stored ahead of a head, in the versions that it
// stored. They wait for the head that leads to them. When the session is deleted instead,
// the sync removes them: a purge may have looked before they came. Another device that
// recreates the session stores documents with the same ids; these stay.
type leftovers struct {
	mu      sync.Mutex // guards deletes
	deletes []cosmos.Op
}

// note notes a document that was stored.
func (l *leftovers) note(d segment.Document, version cosmos.ETag) {
	if l == nil || version == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deletes = append(l.deletes, cosmos.Delete(d.ID, version))
}

// clear forgets them: the head leads to them now.
func (l *leftovers) clear() { l.deletes = nil }

// remove removes them, after the session was deleted.
func (l *leftovers) remove(ctx context.Context, c cosmos.Conn, pk string) error {
	if err := cosmos.Discard(ctx, c, pk, l.deletes); err != nil {
		return fmt.Errorf("remove what was stored for a deleted session: %w", err)
	}
	l.clear()
	return nil
}
