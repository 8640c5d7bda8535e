package hybrid

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// outbox takes the documents of one session until its tip can be changed. A
// few of them go together with the tip, in one request; more are uploaded
// while they come.
type outbox struct {
	link     *link
	pk       string // of the tip
	waiting  []segment.Document
	bytes    int
	sent     bool // some went without the tip
	segments int
	count    *Estimate // not nil: nothing is sent
	first    *firstUpload
}

// firstUpload is what else belongs to the documents of a session that has no
// tip yet: nothing guards them.
type firstUpload struct {
	announce func(context.Context) error // before anything is uploaded, so that upkeep finds what is given up; nil: it was
	began    time.Time                   // by the clock on the wall, which goes on while a machine sleeps
}

// stale reports whether so much time has gone by that upkeep may have removed
// what was uploaded.
func (f *firstUpload) stale() bool { return f != nil && time.Now().Round(0).Sub(f.began) > staleAfter }

var errStale = errors.New("the first upload took too long")

const (
	inFlight  = 4 << 20 // bytes that wait, until all of them are sent
	uploaders = 8
)

var errTooBig = errors.New("document is too big for the account")

// take takes documents, and uploads those that are too many for one request.
func (o *outbox) take(ctx context.Context, docs iter.Seq2[segment.Document, error]) error {
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

func (o *outbox) add(ctx context.Context, d segment.Document) error {
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

// batched reports whether all documents fit into one request with a tip.
func (o *outbox) batched(tip []byte) bool {
	if o.sent || len(o.waiting)+1 > batchOperations || o.bytes+len(tip) > batchBytes {
		return false
	}
	for _, d := range o.waiting {
		if d.PK != o.pk {
			return false
		}
	}
	return true
}

// upload stores what waits.
func (o *outbox) upload(ctx context.Context) error {
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
	for range min(atOnce(uploaders, o.link.alone), len(docs)) {
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

func (o *outbox) store(ctx context.Context, d segment.Document) error {
	v := o.link.upsert(ctx, d.PK, d.Body)
	switch v.class {
	case fine:
		return nil
	case tooBig:
		return fmt.Errorf("store %s: %w", d.ID, errTooBig)
	}
	return fmt.Errorf("store %s: %w", d.ID, v.err)
}

// commit makes the tip visible after all that it leads to is stored. Somebody
// else having been first is a verdict, not an error.
func (o *outbox) commit(ctx context.Context, id string, tip []byte, etag azcore.ETag) (azcore.ETag, verdict) {
	if len(o.waiting) > 0 && o.batched(tip) && !o.first.stale() {
		bodies := make([][]byte, len(o.waiting))
		for i, d := range o.waiting {
			bodies[i] = d.Body
		}
		next, v := o.link.commit(ctx, o.pk, bodies, id, tip, etag)
		if v.class != tooBig {
			return next, v
		}
	}
	if len(o.waiting) > 0 {
		if err := o.upload(ctx); err != nil {
			return "", verdict{class: refused, err: err}
		}
	}
	if o.first.stale() {
		return "", verdict{class: changed, err: errStale}
	}
	return o.link.swap(ctx, o.pk, id, tip, etag)
}
