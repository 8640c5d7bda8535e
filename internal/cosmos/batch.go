package cosmos

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Batch implements [Conn]. A batch of one operation is a plain request, which
// costs less. The parts of a batch that a server applies in spite of a failure do
// no harm: documents that nothing leads to yet come first, then the one that leads to
// them, then removals of what it no longer leads to.
func (c *conn) Batch(ctx context.Context, pk string, ops ...Op) (a Answer) {
	switch len(ops) {
	case 0:
		return Answer{Failed: -1}
	case 1:
		a = c.change(ctx, pk, ops[0])
	default:
		a = c.transact(ctx, pk, ops)
	}
	if a.Class == Missing && creates(ops) {
		a.noContainer()
		c.client.Budget.refused(a.Err)
	}
	if a.Class == OK {
		c.stored(ops)
	}
	return a
}

// Around returns the operations of one request that replaces a document, and the place of
// that: what it leads to is stored before, and what it no longer leads to is removed after.
func Around(swap Op, with []Op) (ops []Op, at int) {
	for _, op := range with {
		if op.Kind != Remove {
			ops = append(ops, op)
		}
	}
	at, ops = len(ops), append(ops, swap)
	for _, op := range with {
		if op.Kind == Remove {
			ops = append(ops, op)
		}
	}
	return ops, at
}

// creates reports whether no operation needs a document that is there, so that
// it can be the container alone that is missing.
func creates(ops []Op) bool {
	for _, op := range ops {
		if op.Kind == Replace || op.Kind == Remove {
			return false
		}
	}
	return true
}

// change makes one operation.
func (c *conn) change(ctx context.Context, pk string, op Op) Answer {
	var etag ETag
	a := c.do(ctx, !conditional([]Op{op}), expected([]Op{op}), func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := op.alone(ctx, c.client.Container, partition(pk))
		etag = r.ETag
		return r.Response, text(r.SessionToken), err
	})
	switch a.Class {
	case OK:
		a.ETags = []ETag{etag}
	case Missing, Exists, Changed, TooLarge:
		a.Failed = 0
	}
	return a
}

// alone makes the operation as a request of its own.
func (op *Op) alone(ctx context.Context, to *azcosmos.ContainerClient, pk azcosmos.PartitionKey) (azcosmos.ItemResponse, error) {
	options := &azcosmos.ItemOptions{}
	if op.ETag != "" {
		options.IfMatchEtag = &op.ETag
	}
	switch op.Kind {
	case Create:
		return to.CreateItem(ctx, pk, op.Body, nil)
	case Replace:
		return to.ReplaceItem(ctx, pk, op.ID, op.Body, options)
	case Remove:
		return to.DeleteItem(ctx, pk, op.ID, options)
	}
	return to.UpsertItem(ctx, pk, op.Body, nil)
}

// into adds the operation to a batch.
func (op *Op) into(batch *azcosmos.TransactionalBatch) {
	options := &azcosmos.TransactionalBatchItemOptions{}
	if op.ETag != "" {
		options.IfMatchETag = &op.ETag
	}
	switch op.Kind {
	case Create:
		batch.CreateItem(op.Body, nil)
	case Replace:
		batch.ReplaceItem(op.ID, op.Body, options)
	case Remove:
		batch.DeleteItem(op.ID, options)
	default:
		batch.UpsertItem(op.Body, nil)
	}
}

// transact makes several operations at once.
func (c *conn) transact(ctx context.Context, pk string, ops []Op) Answer {
	batch := c.client.Container.NewTransactionalBatch(partition(pk))
	for _, op := range ops {
		op.into(&batch)
	}
	return c.do(ctx, !conditional(ops), expected(ops), func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := c.client.Container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err == nil {
			err = &batchError{results(r)}
		}
		return r.Response, r.SessionToken, err
	})
}

// results returns what the operations of a batch say. The first that failed by
// itself counts, whatever the answer as a whole says.
func results(r azcosmos.TransactionalBatchResponse) Answer {
	a := Answer{Failed: -1}
	for i, op := range r.OperationResults {
		status := int(op.StatusCode)
		if status == http.StatusFailedDependency || status < 300 {
			a.ETags = append(a.ETags, op.ETag)
			continue
		}
		a = Answer{Class: classOf(status), Failed: i, Err: &statusError{status: status}, status: status}
		if status == http.StatusForbidden { // the service took the request, so it is not for the account's rights
			a.sub = full
		}
		a.explain(nil, time.Time{})
		return a
	}
	if !r.Success && len(r.OperationResults) > 0 {
		return Answer{Class: Unknown, Failed: -1, Err: fmt.Errorf("%w: the batch failed for no reason", ErrUnreachable)}
	}
	return a
}
