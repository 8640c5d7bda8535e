package syncer

import (
	"context"
	"fmt"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/remoteread"
)

// leftovers are the documents that a sync stored ahead of a head. They wait for the head that
// leads to them. When the session is deleted or born anew instead, no head will ever lead to
// them, and the sync removes them: a removal may have looked before they came, and they may be
// in forms that nobody is to have any more.
type leftovers struct {
	mu  sync.Mutex // guards ids
	ids []string
}

// note notes a document that is stored.
func (l *leftovers) note(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id)
}

// clear forgets them: the head leads to them now.
func (l *leftovers) clear() { l.ids = nil }

// remove removes them.
func (l *leftovers) remove(ctx context.Context, r *remoteread.Reader, pk string) error {
	if err := r.Discard(ctx, pk, l.ids); err != nil {
		return fmt.Errorf("remove what was stored in vain: %w", err)
	}
	l.clear()
	return nil
}
