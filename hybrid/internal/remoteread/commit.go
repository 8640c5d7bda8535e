package remoteread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// ErrLost is returned when a change was decided by a version of a document that is no
// longer the newest, or when it is not known whether it was made. The caller has to read
// the document again.
var ErrLost = errors.New("the head changed meanwhile")

// ErrContended is returned when other devices keep changing the same document.
var ErrContended = errors.New("other devices keep changing the session")

// Lost turns the error of a change into an [ErrLost] where another read decides the next
// step.
func Lost(err error) error {
	if errors.Is(err, remote.ErrChanged) || errors.Is(err, remote.ErrUnknown) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// maxTries is how often a change is decided while other devices change the session.
const maxTries = 5

// Again calls do again, after a pause, where its error Is [ErrLost] or one of also. After
// maxTries the error Is [ErrContended], or the error of do where the remote does not
// answer.
func Again(ctx context.Context, random *jitter.Source, do func() error, also ...error) error {
	for try := 1; ; try++ {
		err := do()
		lost := func(e error) bool { return errors.Is(err, e) }
		if !lost(ErrLost) && !slices.ContainsFunc(also, lost) || ctx.Err() != nil {
			return err
		}
		switch {
		case try == maxTries && errors.Is(err, remote.ErrUnreachable):
			return err
		case try == maxTries:
			return fmt.Errorf("%w: %w", ErrContended, err)
		}
		if err := jitter.Pause(ctx, random.Wait(jitter.FirstBackoff/8<<try), nil); err != nil {
			return err
		}
	}
}

// maxUploads is the number of documents that are stored at once.
const maxUploads = 8

// Batch returns the limits of a commit that the remote does whole; zero where they are
// not known.
func (r *Reader) Batch(ctx context.Context) remote.Batch {
	info, _ := r.Remote.Info(ctx)
	return info.Batch
}

// Fits reports whether documents are stored whole with a swap, or not at all.
func (r *Reader) Fits(ctx context.Context, docs []segment.Document, swap *remote.Swap) bool {
	room, bytes := r.Batch(ctx), swap.Size()
	for i := range docs {
		bytes += docs[i].Size()
	}
	return len(docs)+len(swap.Remove) < room.Objects && bytes <= room.Bytes
}

// Commit stores documents of a partition, and then replaces one more, if it still has its
// version, when swap is not nil. Where all [Reader.Fits], they are stored whole, or not at all.
func (r *Reader) Commit(ctx context.Context, pk string, docs []segment.Document, swap *remote.Swap) (remote.Version, error) {
	objects, bytes := make([]remote.Object, len(docs)), 0
	for i, d := range docs {
		objects[i] = remote.Object{Name: d.ID, Label: d.Label, Body: d.Body}
		bytes += d.Size()
	}
	v, err := r.Remote.Commit(remote.Observed(ctx, r.count), pk, objects, swap)
	if err != nil {
		return "", err
	}
	if swap != nil {
		objects, bytes = append(objects, swap.Object), bytes+swap.Size()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Documents += len(objects)
	r.usage.Bytes += int64(bytes)
	return v, nil
}

// Store stores documents of a partition, several at once.
func (r *Reader) Store(ctx context.Context, pk string, docs []segment.Document) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	next := make(chan segment.Document)
	for range min(r.atOnce(maxUploads), len(docs)) {
		work.Go(func() {
			for d := range next {
				if _, err := r.Commit(ctx, pk, []segment.Document{d}, nil); err != nil {
					cancel(fmt.Errorf("store %s: %w", d.ID, err))
				}
			}
		})
	}
	for _, d := range docs {
		next <- d
	}
	close(next)
	work.Wait()
	return context.Cause(ctx)
}

// Swap returns a swap that replaces a document, if it still has a version; "" is none.
func Swap(d segment.Document, version remote.Version) *remote.Swap {
	return &remote.Swap{Object: remote.Object{Name: d.ID, Label: d.Label, Body: d.Body}, If: version}
}

// The errors of this package, for [errors.Is].
var (
	// ErrDamaged is returned when a document in the remote is missing or does not match
	// its hash. Package hybrid documents it.
	ErrDamaged = errors.New("the copy in the remote is damaged")
	// ErrOlder is returned when the remote answered with an older head than before. It
	// Is [ErrLost] too.
	ErrOlder = fmt.Errorf("%w: a replica is behind", ErrLost)
	// ErrHead is returned when a session has a head that cannot be followed.
	ErrHead = errors.New("the session's head in the remote cannot be read")
)

// Damaged turns an error for damaged or missing documents into an [ErrDamaged], and
// returns every other error as it is.
func Damaged(err error) error {
	if errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrGap) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// unreadable returns the error for a head that cannot be read.
func unreadable(err error) error {
	if errors.Is(err, segment.ErrFormat) || errors.Is(err, segment.ErrForeign) {
		return fmt.Errorf("%w: %w", ErrHead, err)
	}
	return fmt.Errorf("%w: %w: %w", ErrHead, ErrDamaged, err)
}
