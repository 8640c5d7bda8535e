package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// questions asks an account how it answers the requests that a sync makes, and faulty
// requests, on documents of a partition of their own.
type questions struct {
	container *azcosmos.ContainerClient
	record    *recorder
	pk        string
	etag      azcore.ETag // of the document small
}

// question is a request and the status with which it is answered.
type question struct {
	step   string
	status int
	ask    func(context.Context, *questions) error
}

// document returns a document of about size bytes.
func (q *questions) document(id string, size int) []byte {
	doc := map[string]any{"id": id, "pk": q.pk, "type": "question", "end": len(id), "data": strings.Repeat("d", size)}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err) // strings and numbers are always JSON
	}
	return text
}

func (q *questions) key() azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(q.pk) }

func create(id string, size int) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		r, err := q.container.CreateItem(ctx, q.key(), q.document(id, size), nil)
		if err == nil && id == "small" {
			q.etag = r.ETag
		}
		return err
	}
}

func read(id string) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		_, err := q.container.ReadItem(ctx, q.key(), id, nil)
		return err
	}
}

func upsert(id string, size int) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		_, err := q.container.UpsertItem(ctx, q.key(), q.document(id, size), nil)
		return err
	}
}

func replace(etag azcore.ETag) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		match := etag
		if match == "" {
			match = q.etag
		}
		r, err := q.container.ReplaceItem(ctx, q.key(), "small", q.document("small", 1<<10), &azcosmos.ItemOptions{IfMatchEtag: &match})
		if err == nil {
			q.etag = r.ETag
		}
		return err
	}
}

func remove(id string) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		_, err := q.container.DeleteItem(ctx, q.key(), id, nil)
		return err
	}
}

// readKnown asks for a document only if it changed.
func readKnown(ctx context.Context, q *questions) error {
	ctx = policy.WithHTTPHeader(ctx, http.Header{"If-None-Match": {string(q.etag)}})
	return read("small")(ctx, q)
}

// list is the query that a sync makes.
const list = "SELECT c.id, c.label, c.type, c.v, c._etag, c._ts FROM c WHERE c.pk = @pk AND c.id > @after ORDER BY c.id"

// query asks for a page of documents.
func query(rows int32) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		_, err := q.container.NewQueryItemsPager(list, q.key(), &azcosmos.QueryOptions{
			QueryParameters: []azcosmos.QueryParameter{{Name: "@pk", Value: q.pk}, {Name: "@after", Value: ""}}, PageSizeHint: rows,
		}).NextPage(ctx)
		return err
	}
}

// batch creates n documents at once, and after them the document last, which may exist.
func batch(prefix string, n int, last string) func(context.Context, *questions) error {
	return func(ctx context.Context, q *questions) error {
		all := q.container.NewTransactionalBatch(q.key())
		for i := range n {
			all.CreateItem(q.document(prefix+strconv.Itoa(i), 1<<10), nil)
		}
		if last != "" {
			all.CreateItem(q.document(last, 1<<10), nil)
		}
		_, err := q.container.ExecuteTransactionalBatch(ctx, all, nil)
		return err
	}
}

// asked are the questions in their order. Each uses the documents that the earlier ones
// made.
var asked = []question{
	{"create 1 KB", http.StatusCreated, create("small", 1<<10)},
	{"create 16 KB", http.StatusCreated, create("middle", 16<<10)},
	{"create 100 KB", http.StatusCreated, create("large", 100<<10)},
	{"create what is there", http.StatusConflict, create("small", 1<<10)},
	{"create more than 2 MB", http.StatusRequestEntityTooLarge, create("huge", 2<<20)},
	{"read 1 KB", http.StatusOK, read("small")},
	{"read 16 KB", http.StatusOK, read("middle")},
	{"read 100 KB", http.StatusOK, read("large")},
	{"read what is known", http.StatusNotModified, readKnown},
	{"read what is not there", http.StatusNotFound, read("none")},
	{"replace 1 KB", http.StatusOK, replace("")},
	{"replace what changed", http.StatusPreconditionFailed, replace(`"other"`)},
	{"upsert 1 KB", http.StatusCreated, upsert("upserted", 1<<10)},
	{"upsert 1 KB again", http.StatusOK, upsert("upserted", 1<<10)},
	{"batch of 10 of 1 KB", http.StatusOK, batch("batch-", 10, "")},
	{"batch of which the last fails", http.StatusMultiStatus, batch("failed-", 2, "small")},
	{"batch of 101", http.StatusBadRequest, batch("many-", 101, "")},
	{"query of all", http.StatusOK, query(100)},
	{"query of a page of 3", http.StatusOK, query(3)},
	{"delete 1 KB", http.StatusNoContent, remove("small")},
	{"delete what is not there", http.StatusNotFound, remove("small")},
}

// askAll asks all questions and removes their documents.
func askAll(ctx context.Context, container *azcosmos.ContainerClient, record *recorder) error {
	q := &questions{container: container, record: record, pk: "cloudsync-questions-" + strings.ToLower(rand.Text()[:12])}
	for _, one := range asked {
		record.begin("questions", one.step, one.status)
		if err := answerOf(one.ask(ctx, q)); err != nil {
			return errors.Join(err, q.tidy(ctx))
		}
	}
	return q.tidy(ctx)
}

// answerOf returns the errors that are not answers of the account.
func answerOf(err error) error {
	if answer := (*azcore.ResponseError)(nil); errors.As(err, &answer) {
		return nil
	}
	return err
}

// tidy removes the documents that the questions made.
func (q *questions) tidy(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	q.record.begin("questions", "tidy", 0)
	ids := []string{"small", "middle", "large", "upserted"}
	for i := range 10 {
		ids = append(ids, "batch-"+strconv.Itoa(i))
	}
	for _, id := range ids {
		if err := answerOf(remove(id)(ctx, q)); err != nil {
			return err
		}
	}
	return nil
}
