package syncer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// uploader takes the documents of one session until its head can be changed. A
// few of them go together with the head, in one request; more are uploaded
// while they come.
type uploader struct {
	link     *remoteread.Reader
	pk       string // of the head
	waiting  []segment.Document
	bytes    int
	sent     bool     // some went without the head
	remove   []string // ids of those that are removed with the head
	segments int
	first    *firstUpload
	left     *leftovers // what is sent is noted there
}

// uploader returns one for the documents of the session.
func (c *cloud) uploader() *uploader { return &uploader{link: c.link, pk: c.pk, left: &c.left} }

// firstUpload is what else belongs to the documents of a session that has no
// head yet: nothing guards them.
type firstUpload struct {
	announce func(context.Context) error // before anything is uploaded, so that pruning finds what is given up; nil: it was
	began    time.Time                   // by the clock on the wall, which goes on while a machine sleeps
}

// stale reports whether so much time has gone by that pruning may have removed
// what was uploaded.
func (f *firstUpload) stale() bool {
	return f != nil && time.Now().Round(0).Sub(f.began) > gc.MaxFirstUpload
}

const (
	inFlight = 4 << 20 // bytes that wait, until all of them are sent
)

// take takes documents, and uploads those that are too many for one request.
func (o *uploader) take(ctx context.Context, docs iter.Seq2[segment.Document, error]) error {
	for d, err := range docs {
		if err != nil {
			return err
		}
		if err := o.add(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (o *uploader) add(ctx context.Context, d segment.Document) error {
	if d.Type == segment.TypeSegment {
		o.segments++
	}
	o.waiting = append(o.waiting, d)
	o.bytes += d.Size()
	if o.bytes < inFlight {
		return nil
	}
	return o.upload(ctx)
}

// upload stores what waits.
func (o *uploader) upload(ctx context.Context) error {
	if !o.sent && o.first != nil && o.first.announce != nil {
		if err := o.first.announce(ctx); err != nil {
			return err
		}
	}
	docs := o.waiting
	o.waiting, o.bytes, o.sent = nil, 0, true
	for _, d := range docs {
		o.left.note(d.ID)
	}
	return tooBig(o.link.Store(ctx, o.pk, docs))
}

func tooBig(err error) error {
	if errors.Is(err, remote.ErrTooLarge) {
		return fmt.Errorf("%w: %w", errTooBig, err)
	}
	return err
}

// commit makes the head visible after all that it leads to is stored. The error Is [errLost]
// when another device was first, or may have been.
func (o *uploader) commit(ctx context.Context, doc segment.Document, last remote.Version) (remote.Version, error) {
	swap := remoteread.Swap(doc, last)
	swap.Remove = o.remove
	if len(o.waiting) > 0 && !o.sent && !o.first.stale() && o.link.Fits(ctx, o.waiting, swap) {
		v, err := o.link.Commit(ctx, o.pk, o.waiting, swap)
		if !errors.Is(err, remote.ErrTooLarge) {
			return v, remoteread.Lost(err)
		}
	}
	if len(o.waiting) > 0 {
		if err := o.upload(ctx); err != nil {
			return "", err
		}
	}
	if o.first.stale() {
		return "", fmt.Errorf("%w: %w", errLost, errStale)
	}
	v, err := o.link.Commit(ctx, o.pk, nil, swap)
	return v, tooBig(remoteread.Lost(err))
}
