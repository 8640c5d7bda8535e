package syncer

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// uploader takes the documents of one session until its head can be changed. A
// few of them go together with the head, in one request; more are uploaded
// while they come.
type uploader struct {
	link     *remoteread.Reader
	pk       string // of the head
	waiting  []segment.Document
	bytes    int
	sent     bool        // some went without the head
	beside   []cosmos.Op // changes that are made with that of the head, or not at all
	segments int
	count    *Estimate // not nil: nothing is sent
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
	inFlight   = 4 << 20 // bytes that wait, until all of them are sent
	maxUploads = 8
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
	if o.count != nil {
		o.count.count(d.Body, false)
		return nil
	}
	o.waiting = append(o.waiting, d)
	o.bytes += len(d.Body)
	if o.bytes < inFlight {
		return nil
	}
	return o.upload(ctx)
}

// with makes a small change in the request that changes the head.
func (o *uploader) with(op cosmos.Op) {
	if o.count != nil && op.Kind == cosmos.Upsert {
		o.count.count(op.Body, false)
	}
	o.beside = append(o.beside, op)
}

// batched reports whether all documents fit into one request with the last changes.
func (o *uploader) batched(last []cosmos.Op) bool {
	bytes := o.bytes
	for _, op := range last {
		bytes += len(op.Body)
	}
	return !o.sent && len(o.waiting)+len(last) <= cosmos.MaxOps && bytes <= cosmos.MaxBytes
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		work  sync.WaitGroup
		mu    sync.Mutex // guards first
		first error
	)
	next := make(chan segment.Document)
	for range min(atOnce(maxUploads, o.link.Alone), len(docs)) {
		work.Go(func() {
			for d := range next {
				if err := o.store(ctx, d); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
					cancel()
				}
			}
		})
	}
	for _, d := range docs {
		next <- d
	}
	close(next)
	work.Wait()
	return first
}

func (o *uploader) store(ctx context.Context, d segment.Document) error {
	o.left.note(d.ID)
	a := o.link.Batch(ctx, o.pk, cosmos.Put(d.Body))
	switch a.Class {
	case cosmos.OK:
		return nil
	case cosmos.TooLarge:
		return fmt.Errorf("store %s: %w", d.ID, errTooBig)
	}
	return fmt.Errorf("store %s: %w", d.ID, a.Err)
}

// commit makes the head visible after all that it leads to is stored. The documents of
// histories come and go in the same request, behind the head. Somebody else having been
// first is an answer, not an error.
func (o *uploader) commit(ctx context.Context, id string, head []byte, etag cosmos.ETag) (cosmos.ETag, cosmos.Answer) {
	last, at := cosmos.Around(cosmos.Swap(id, head, etag), o.beside)
	if n := len(o.waiting); n > 0 && o.batched(last) && !o.first.stale() {
		ops := make([]cosmos.Op, n, n+len(last))
		for i, d := range o.waiting {
			ops[i] = cosmos.Put(d.Body)
		}
		a := o.link.Batch(ctx, o.pk, append(ops, last...)...)
		if a.Class != cosmos.TooLarge {
			return a.ETag(n + at), a
		}
	}
	if len(o.waiting) > 0 {
		if err := o.upload(ctx); err != nil {
			return "", cosmos.Answer{Class: cosmos.Refused, Err: err}
		}
	}
	if o.first.stale() {
		return "", cosmos.Answer{Class: cosmos.Changed, Err: errStale}
	}
	a := o.link.Batch(ctx, o.pk, last...)
	return a.ETag(at), a
}
