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

// ErrLost tells that a change was decided by a version of a document that is not the newest
// any more, or that it is not known whether it was made. What decided it is to be read again.
var ErrLost = errors.New("the head changed meanwhile")

// ErrContended tells that other devices keep changing what this one is to change.
var ErrContended = errors.New("other devices keep changing the session")

// Lost makes an [ErrLost] of the error of a change where reading again tells what to do.
func Lost(err error) error {
	if errors.Is(err, remote.ErrChanged) || errors.Is(err, remote.ErrUnknown) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// maxTries is how often a change is decided while other devices change the session.
const maxTries = 5

// Again calls do again, after a pause, where its error Is [ErrLost] or one of also. After
// maxTries the error Is [ErrContended], or what do returned where the remote does not answer.
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

// maxUploads is how many documents are stored at once.
const maxUploads = 8

// Batch returns what the remote does whole; nothing where it does not tell.
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

// Swap returns what replaces a document, if it still has a version; "" is none.
func Swap(d segment.Document, version remote.Version) *remote.Swap {
	return &remote.Swap{Object: remote.Object{Name: d.ID, Label: d.Label, Body: d.Body}, If: version}
}

// What callers branch on, with [errors.Is].
var (
	// ErrDamaged tells that something in the cloud is missing or not what its hash
	// says. Package hybrid documents it.
	ErrDamaged = errors.New("copy in the cloud is damaged")
	// ErrOlder tells that the account answered with an older head than one that it
	// gave before. It Is [ErrLost] too.
	ErrOlder = fmt.Errorf("%w: a replica is behind", ErrLost)
	// ErrHead tells that a session has a head, but none that can be followed.
	ErrHead = errors.New("the session's head in the cloud cannot be read")
)

// Damaged makes an [ErrDamaged] of an error that tells of damaged or missing
// documents, and returns every other error as it is.
func Damaged(err error) error {
	if errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrGap) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// unreadable tells why a head cannot be read.
func unreadable(err error) error {
	if errors.Is(err, segment.ErrFormat) || errors.Is(err, segment.ErrForeign) {
		return fmt.Errorf("%w: %w", ErrHead, err)
	}
	return fmt.Errorf("%w: %w: %w", ErrHead, ErrDamaged, err)
}
