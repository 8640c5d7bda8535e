package hybrid

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// step is a change of one document that upkeep makes.
type step struct {
	id   string
	etag azcore.ETag // of what is to be removed, as it was listed
	body []byte      // of what is to be stored; nil: the document is removed
}

// A writer that lost the tip to upkeep tries again at once; so upkeep, which is
// in no hurry, lets it go first.
const courtesy = 200 * time.Millisecond

// under makes changes in one partition, in portions, each together with a new
// etag of the tip: so nothing happens but to what stood when it was decided,
// and whoever decided something by the former etag, as a writer that uploaded
// long ago, has to look again. What somebody stored anew meanwhile is not
// removed. It returns how many documents were removed.
func (u *keeper) under(ctx context.Context, pk string, steps []step) (removed int, err error) {
	for first := true; len(steps) > 0; first = false {
		if !first {
			if err := pause(ctx, courtesy, nil); err != nil {
				return removed, err
			}
		}
		n, size := 0, len(u.st.Head.Doc)
		for n < len(steps) && n < batchOperations-1 && (n == 0 || size+len(steps[n].body) <= batchBytes) {
			size += len(steps[n].body)
			n++
		}
		done, err := u.portion(ctx, pk, steps[:n])
		removed += done
		if err != nil {
			return removed, err
		}
		steps = steps[n:]
	}
	return removed, nil
}

// portion is what one request can do.
func (u *keeper) portion(ctx context.Context, pk string, steps []step) (removed int, err error) {
	doc, err := u.tip.Encode()
	if err != nil {
		return 0, err
	}
	if pk != u.pk { // a partition of its own: first the tip
		etag, v := u.link.swap(ctx, u.pk, doc.ID, doc.Body, u.etag)
		if v.class != fine {
			return 0, lostTo(v)
		}
		u.retag(etag, doc.Body)
	}
	for len(steps) > 0 {
		batch := u.link.container.NewTransactionalBatch(partition(pk))
		if pk == u.pk {
			batch.ReplaceItem(doc.ID, doc.Body, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &u.etag})
		}
		for _, s := range steps {
			s.into(&batch)
		}
		etag, failed, v := u.link.execute(ctx, batch)
		if pk == u.pk {
			failed--
		}
		switch {
		case v.class == fine:
			if pk == u.pk {
				u.retag(etag, doc.Body)
			}
			return removals(steps), nil
		case failed >= 0 && failed < len(steps) && (v.class == missing || v.class == changed):
			steps = append(steps[:failed:failed], steps[failed+1:]...) // gone, or stored anew: it is to stay
		default:
			return 0, lostTo(v)
		}
	}
	return 0, nil
}

func (s *step) into(batch *azcosmos.TransactionalBatch) {
	if s.body != nil {
		batch.UpsertItem(s.body, nil)
		return
	}
	batch.DeleteItem(s.id, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &s.etag})
}

func removals(steps []step) (n int) {
	for _, s := range steps {
		if s.body == nil {
			n++
		}
	}
	return n
}

// retag notes the tip as it was just written.
func (u *keeper) retag(etag azcore.ETag, body []byte) {
	u.etag, u.st.Head = etag, u.head(etag, body)
}

// lostTo returns the error for a request that was not done, or perhaps not:
// where that may be, everything is looked at again.
func lostTo(v verdict) error {
	switch v.class {
	case changed, exists, missing, shaky:
		return fmt.Errorf("%w: %w", errLost, v.err)
	}
	return v.err
}

// execute sends a batch that may be sent once. It returns the etag that its
// first operation gave, and which operation failed by itself, -1 for none.
func (l *link) execute(ctx context.Context, batch azcosmos.TransactionalBatch) (etag azcore.ETag, failed int, v verdict) {
	var inside verdict
	v = l.change(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		failed, inside = -1, verdict{}
		r, err := l.container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err != nil {
			return r.Response, r.SessionToken, err
		}
		inside = cause(r)
		for i, op := range r.OperationResults {
			if i == 0 {
				etag = op.ETag
			}
			if op.StatusCode >= 300 && op.StatusCode != http.StatusFailedDependency && failed < 0 {
				failed = i
			}
		}
		return r.Response, r.SessionToken, err
	})
	if v.class == fine {
		v = inside
	}
	return etag, failed, v
}
