package hybrid

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// What one batch may hold; the service takes 100 operations and 2 MB.
const (
	batchOperations = 100
	batchBytes      = 1800 << 10
)

// commit stores segments and swaps the tip in one request, the tip last. The
// parts of a batch that a server applies in spite of a failure do no harm:
// segments that no tip leads to are not seen.
func (l *link) commit(ctx context.Context, pk string, segments [][]byte, id string, tip []byte, etag azcore.ETag) (next azcore.ETag, v verdict) {
	batch := l.container.NewTransactionalBatch(partition(pk))
	for _, body := range segments {
		batch.UpsertItem(body, nil)
	}
	if etag == "" {
		batch.CreateItem(tip, nil)
	} else {
		batch.ReplaceItem(id, tip, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
	}
	var inside verdict
	v = l.change(ctx, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := l.container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err == nil {
			inside = cause(r)
			if n := len(r.OperationResults); n > 0 {
				next = r.OperationResults[n-1].ETag
			}
		}
		return r.Response, r.SessionToken, err
	})
	if v.class == fine {
		v = inside
	}
	l.sent(v, append(segments, tip)...)
	return next, v
}

// cause returns what the first operation says that failed by itself. Whether
// the answer as a whole says success does not count.
func cause(r azcosmos.TransactionalBatchResponse) verdict {
	for _, op := range r.OperationResults {
		status := int(op.StatusCode)
		if status == http.StatusFailedDependency || status < 300 {
			continue
		}
		v := verdict{class: classOf(status), status: status, err: &refusal{status: status}}
		v.explain(nil, time.Time{})
		return v
	}
	if !r.Success && len(r.OperationResults) > 0 {
		return verdict{class: shaky, err: fmt.Errorf("%w: the batch failed for no reason", ErrUnreachable)}
	}
	return verdict{}
}
