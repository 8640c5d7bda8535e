package cosmos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Commit implements [remote.Remote]. A commit that fits into one batch is stored whole or
// not at all. If a server applies a part of a batch in spite of a failure, that does no
// harm: documents that the swap leads to come before it, and documents that it no longer
// leads to are removed after it.
func (c *Remote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := remote.CheckSizes(objects, swap); err != nil {
		return "", err
	}
	all, err := ops(part, objects, swap)
	if err != nil {
		return "", err
	}
	n := len(objects)
	if !fits(objects, swap) {
		for i := range objects {
			if a := c.batch(ctx, part, all[i]); a.Err != nil {
				return "", a.failure(false)
			}
		}
		all, n = all[n:], 0
	}
	var rest []string
	if len(all) > maxOps {
		all, rest = all[:n+1], swap.Remove
	}
	a := c.batch(ctx, part, all...)
	for a.missing() && a.Failed > n { // a document to remove is gone: the others go with the swap
		all = slices.Delete(all, a.Failed, a.Failed+1)
		a = c.batch(ctx, part, all...)
	}
	if a.Err != nil {
		return "", a.failure(swap != nil)
	}
	_ = c.Delete(ctx, part, rest) // the swap was made, and remaining documents do no harm
	return remote.Version(a.version(n)), nil
}

// fits reports whether one batch stores the objects and the swap. The documents have a
// little more than the objects, for which the service leaves room.
func fits(objects []remote.Object, swap *remote.Swap) bool {
	n, bytes := len(objects), 0
	if swap != nil {
		n, bytes = n+1, swap.Size()
	}
	for i := range objects {
		bytes += objects[i].Size()
	}
	return n <= maxOps && bytes <= maxBytes
}

// failure returns the error of a commit with this answer.
func (a *reply) failure(swaps bool) error {
	trouble := (*remote.Unreachable)(nil)
	switch {
	case swaps && (a.silent || errors.As(a.Err, &trouble) && trouble.Kind != remote.Throttled):
		return fmt.Errorf("%w: %w", remote.ErrUnknown, a.Err)
	case a.missing():
		return fmt.Errorf("%w: %w", remote.ErrChanged, a.Err)
	}
	return a.Err
}

// Delete implements [remote.Remote].
func (c *Remote) Delete(ctx context.Context, part string, names []string) error {
	for some := range slices.Chunk(names, maxOps) {
		all := removes(some)
		a := c.batch(ctx, part, all...)
		if a.Err == nil || a.missing() && len(all) == 1 {
			continue
		}
		if len(all) == 1 || a.silent || a.status == http.StatusTooManyRequests {
			return a.Err
		}
		for _, o := range all { // some are gone, or the service does not make such a batch
			if a := c.batch(ctx, part, o); a.Err != nil && !a.missing() {
				return a.Err
			}
		}
	}
	return nil
}

// batch makes all changes in one part, or none. A batch of one operation is a plain request,
// which costs less.
func (c *Remote) batch(ctx context.Context, part string, all ...op) (a reply) {
	switch len(all) {
	case 0:
		return reply{Failed: -1}
	case 1:
		a = c.change(ctx, part, all[0])
	default:
		a = c.transact(ctx, part, all)
	}
	if a.missing() && creates(all) {
		a.Err = fmt.Errorf("%w: %w", errNoContainer, &statusError{status: a.status})
	}
	return a
}

// creates reports whether no operation needs an existing document, so that only the
// container can be missing.
func creates(all []op) bool {
	for _, op := range all {
		if op.kind == replace || op.kind == discards {
			return false
		}
	}
	return true
}

// change makes one operation.
func (c *Remote) change(ctx context.Context, part string, o op) reply {
	var etag azcore.ETag
	a := c.do(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := o.alone(ctx, c.container, partition(part))
		etag = r.ETag
		return r.Response, text(r.SessionToken), err
	})
	a.ETags = []azcore.ETag{etag}
	return a
}

// alone makes the operation as a request of its own.
func (o *op) alone(ctx context.Context, to *azcosmos.ContainerClient, pk azcosmos.PartitionKey) (azcosmos.ItemResponse, error) {
	switch o.kind {
	case create:
		return to.CreateItem(ctx, pk, o.body, nil)
	case replace:
		return to.ReplaceItem(ctx, pk, o.id, o.body, &azcosmos.ItemOptions{IfMatchEtag: &o.etag})
	case discards:
		return to.DeleteItem(ctx, pk, o.id, nil)
	}
	return to.UpsertItem(ctx, pk, o.body, nil)
}

// into adds the operation to a batch.
func (o *op) into(batch *azcosmos.TransactionalBatch) {
	switch o.kind {
	case create:
		batch.CreateItem(o.body, nil)
	case replace:
		batch.ReplaceItem(o.id, o.body, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &o.etag})
	case discards:
		batch.DeleteItem(o.id, nil)
	default:
		batch.UpsertItem(o.body, nil)
	}
}

// transact makes several operations at once.
func (c *Remote) transact(ctx context.Context, part string, all []op) reply {
	batch := c.container.NewTransactionalBatch(partition(part))
	for _, o := range all {
		o.into(&batch)
	}
	return c.do(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := c.container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err == nil {
			err = &batchError{results(r)}
		}
		return r.Response, r.SessionToken, err
	})
}

// results returns the results of the operations of a batch. The first that failed by
// itself counts, whatever the status of the answer as a whole.
func results(r azcosmos.TransactionalBatchResponse) reply {
	a := reply{Failed: -1}
	for i, op := range r.OperationResults {
		status := int(op.StatusCode)
		if status == http.StatusFailedDependency || status < 300 {
			a.ETags = append(a.ETags, op.ETag)
			continue
		}
		a = reply{Failed: i, status: status}
		if status == http.StatusForbidden { // the service took the request, so the account's rights are not the reason
			a.sub = full
		}
		a.explain(&statusError{status: status}, nil, time.Time{})
		return a
	}
	if !r.Success && len(r.OperationResults) > 0 {
		return reply{Failed: -1, Err: &remote.Unreachable{Err: errors.New("the batch failed for no reason")}}
	}
	return a
}
