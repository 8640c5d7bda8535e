package remoteread

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Reader makes the requests of one piece of work, and counts them. Its methods may be called
// by several goroutines.
type Reader struct {
	Remote remote.Remote
	Alone  bool // it makes one request at a time

	mu    sync.Mutex // guards usage
	usage Usage
}

// Usage is what a piece of work cost.
type Usage struct {
	Requests, Documents int   // made, stored
	Bytes               int64 // of the documents stored
	Units               float64
}

// Usage returns what the work cost so far.
func (r *Reader) Usage() Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage
}

func (r *Reader) count(q remote.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Requests++
	r.usage.Units += q.Units
}

// atOnce returns how many of n requests are made at once.
func (r *Reader) atOnce(n int) int {
	if r.Alone {
		return 1
	}
	return n
}

// Time returns the time of the remote's newest answer, by its clock; the zero time when none
// has told it.
func (r *Reader) Time() time.Time {
	info, _ := r.Remote.Info(context.Background()) // without an answer it tells no time
	return info.Time
}

// Get reads a document, nil when there is none. The error Is [remote.ErrUnchanged] when it
// has the version that is known.
func (r *Reader) Get(ctx context.Context, pk, id string, known remote.Version) (*remote.Object, error) {
	o, err := r.Remote.Get(remote.Observed(ctx, r.count), pk, id, known)
	if errors.Is(err, remote.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// List yields the documents of a partition that q asks for, without their bodies.
func (r *Reader) List(ctx context.Context, pk string, q remote.Query) iter.Seq2[remote.Object, error] {
	return r.Remote.List(remote.Observed(ctx, r.count), pk, q)
}

// Discard removes documents of a partition. That one is gone is no error.
func (r *Reader) Discard(ctx context.Context, pk string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return r.Remote.Delete(remote.Observed(ctx, r.count), pk, ids)
}

// HeadDocument reads the document of the head of any session, nil when it has none.
func (r *Reader) HeadDocument(ctx context.Context, sid string) (*remote.Object, error) {
	return r.Get(ctx, segment.SessionPK(sid), segment.HeadID(sid), "")
}
