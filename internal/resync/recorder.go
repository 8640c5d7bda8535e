package resync

import (
	"context"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
)

// recorder keeps in mind how large the documents are that were read.
type recorder struct {
	cosmos.Conn

	mu    sync.Mutex // guards sizes
	sizes map[string]int
}

// Get implements [cosmos.Conn].
func (r *recorder) Get(ctx context.Context, pk, id string, known cosmos.ETag) (*cosmos.Document, error) {
	doc, err := r.Conn.Get(ctx, pk, id, known)
	if err == nil && doc != nil && !doc.Same {
		r.mu.Lock()
		r.sizes[id] = len(doc.Body)
		r.mu.Unlock()
	}
	return doc, err
}

// of returns the size of a document that was read.
func (r *recorder) of(id string) (size int, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size, known = r.sizes[id]
	return size, known
}
