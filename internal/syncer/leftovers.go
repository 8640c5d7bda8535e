package syncer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// leftovers are the documents that a sync stored ahead of a head. They wait for the
// head that leads to them. When the session is deleted instead, nobody else knows of
// them: whoever purged it may have looked before they came.
type leftovers struct {
	ids map[string][]string // by partition
}

// note notes documents that are about to be stored.
func (l *leftovers) note(docs []segment.Document) {
	if l == nil {
		return
	}
	if l.ids == nil {
		l.ids = map[string][]string{}
	}
	for _, d := range docs {
		l.ids[d.PK] = append(l.ids[d.PK], d.ID)
	}
}

// clear forgets them: the head leads to them now.
func (l *leftovers) clear() { l.ids = nil }

// remove removes them, after the session was deleted.
func (l *leftovers) remove(ctx context.Context, c cosmos.Conn) error {
	for _, pk := range slices.Sorted(maps.Keys(l.ids)) {
		var deletes []cosmos.Op
		for _, id := range l.ids[pk] {
			deletes = append(deletes, cosmos.Delete(id, ""))
		}
		if err := cosmos.Discard(ctx, c, pk, deletes); err != nil {
			return fmt.Errorf("remove what was stored for a deleted session: %w", err)
		}
		delete(l.ids, pk)
	}
	return nil
}
