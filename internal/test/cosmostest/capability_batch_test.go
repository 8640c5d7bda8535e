package cosmostest_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// run executes a batch in the partition t and returns the statuses of its
// operations.
func (s *site) run(ctx context.Context, fill func(*azcosmos.TransactionalBatch)) (codes []int32, ok bool, err error) {
	b := s.items.NewTransactionalBatch(pk("t"))
	fill(&b)
	r, err := s.items.ExecuteTransactionalBatch(ctx, b, nil)
	for _, one := range r.OperationResults {
		codes = append(codes, one.StatusCode)
	}
	return codes, r.Success, err
}

// creates is a batch of n creates.
func creates(prefix string, n int, more ...any) func(*azcosmos.TransactionalBatch) {
	return func(b *azcosmos.TransactionalBatch) {
		for i := range n {
			b.CreateItem(doc("t", fmt.Sprintf("%s%d", prefix, i), more...), nil)
		}
	}
}

// batchOf checks a batch of one operation.
func batchOf(code int32, add func(*azcosmos.TransactionalBatch)) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		codes, ok, err := s.run(ctx, add)
		return check(err == nil && ok && len(codes) == 1 && codes[0] == code, "codes %v, success %v, %v", codes, ok, err)
	}
}

var batchCapabilities = []capability{
	{"a batch of creates", func(ctx context.Context, s *site) error {
		codes, ok, err := s.run(ctx, creates("b", 3))
		_, read := s.items.ReadItem(ctx, pk("t"), "b2", nil)
		return check(err == nil && ok && fmt.Sprint(codes) == "[201 201 201]" && read == nil, "codes %v, %v, %v", codes, err, read)
	}},
	{"upsert in a batch", batchOf(200, func(b *azcosmos.TransactionalBatch) { b.UpsertItem(doc("t", "b0", "n", 9), nil) })},
	{"replace in a batch", func(ctx context.Context, s *site) error {
		r, err := s.items.ReadItem(ctx, pk("t"), "b1", nil)
		if err != nil {
			return err
		}
		tag, _ := fields(r.Value)["_etag"].(string)
		etag := azcore.ETag(tag)
		return batchOf(200, func(b *azcosmos.TransactionalBatch) {
			b.ReplaceItem("b1", doc("t", "b1", "n", 9), &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
		})(ctx, s)
	}},
	{"read in a batch", func(ctx context.Context, s *site) error {
		b := s.items.NewTransactionalBatch(pk("t"))
		b.ReadItem("b1", nil)
		r, err := s.items.ExecuteTransactionalBatch(ctx, b, nil)
		return check(err == nil && len(r.OperationResults) == 1 && fields(r.OperationResults[0].ResourceBody)["n"] == 9.0, "%+v, %v", r.OperationResults, err)
	}},
	{"delete in a batch", batchOf(204, func(b *azcosmos.TransactionalBatch) { b.DeleteItem("b2", nil) })},
	{"a batch is atomic: 409 with 424 around it", func(ctx context.Context, s *site) error {
		codes, ok, err := s.run(ctx, func(b *azcosmos.TransactionalBatch) {
			b.CreateItem(doc("t", "first"), nil)
			b.CreateItem(doc("t", "b0"), nil)
			b.CreateItem(doc("t", "third"), nil)
		})
		_, e1 := s.items.ReadItem(ctx, pk("t"), "first", nil)
		_, e3 := s.items.ReadItem(ctx, pk("t"), "third", nil)
		if err != nil || ok || fmt.Sprint(codes) != "[424 409 424]" {
			return fmt.Errorf("codes %v, success %v, %v", codes, ok, err)
		}
		return want(404, e1, e3)
	}},
	{"If-Match in a batch", func(ctx context.Context, s *site) error {
		stale := azcore.ETag(`"0000dead-0000"`)
		codes, ok, err := s.run(ctx, func(b *azcosmos.TransactionalBatch) {
			b.CreateItem(doc("t", "beside"), nil)
			b.ReplaceItem("b0", doc("t", "b0", "n", 2), &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &stale})
		})
		_, beside := s.items.ReadItem(ctx, pk("t"), "beside", nil)
		if err != nil || ok || fmt.Sprint(codes) != "[424 412]" {
			return fmt.Errorf("codes %v, success %v, %v", codes, ok, err)
		}
		return want(404, beside)
	}},
	{"100 operations", func(ctx context.Context, s *site) error {
		_, ok, err := s.run(ctx, creates("h", 100))
		return check(ok, "success %v, %v", ok, err)
	}},
	{"101 operations are 400", func(ctx context.Context, s *site) error {
		_, _, err := s.run(ctx, creates("k", 101))
		return want(400, err)
	}},
	{"a batch of 3 MB is 413", func(ctx context.Context, s *site) error {
		_, _, err := s.run(ctx, creates("big", 3, "d", strings.Repeat("y", 1<<20)))
		return want(413, err)
	}},
}

// sized writes and reads a document with so many bytes of data.
func sized(n int) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		if _, err := s.items.UpsertItem(ctx, pk("big"), doc("big", "big", "d", strings.Repeat("z", n)), nil); err != nil {
			return err
		}
		r, err := s.items.ReadItem(ctx, pk("big"), "big", nil)
		return check(err == nil && len(r.Value) > n, "%d bytes, %v", len(r.Value), err)
	}
}

var limitCapabilities = []capability{
	{"a document of 100 KB", sized(100 << 10)},
	{"a document of 1.9 MB", sized(1900 << 10)},
	{"a document over 2 MB is 413", func(ctx context.Context, s *site) error {
		_, err := s.items.UpsertItem(ctx, pk("big"), doc("big", "bigger", "d", strings.Repeat("z", 2<<20)), nil)
		return want(413, err)
	}},
	{"awkward ids", func(ctx context.Context, s *site) error {
		for _, id := range []string{
			"a b", "a+b", "100%", "a.b", "a:b", "a|b", "a~b", "a@b", "a=b", "a,b", "(x)", "é", "你好", "🙂",
			`q"q`, "it's", "x&y", "x%2Fy", strings.Repeat("k", 255),
		} {
			_, e1 := s.items.CreateItem(ctx, pk("ids"), doc("ids", id), nil)
			r, e2 := s.items.ReadItem(ctx, pk("ids"), id, nil)
			if e1 != nil || e2 != nil || fields(r.Value)["id"] != id {
				return fmt.Errorf("%.20q: %w, %w", id, e1, e2)
			}
		}
		return nil
	}},
	{"ids that are refused", func(ctx context.Context, s *site) error {
		for _, id := range []string{"a/b", `a\b`, "a?b", "a#b", "", strings.Repeat("k", 1024)} {
			_, err := s.items.CreateItem(ctx, pk("ids"), doc("ids", id), nil)
			if err := want(400, err); err != nil {
				return fmt.Errorf("%.20q: %w", id, err)
			}
		}
		return nil
	}},
	{"text and JSON come back", func(ctx context.Context, s *site) error {
		text := "nul:\\u0000 bmp:é astral:🙂 sep:\u2028 esc:\"\\/\t\n"
		if _, err := s.items.UpsertItem(ctx, pk("ids"), doc("ids", "text", "v", text, "nil", nil, "arr", []any{1, "a", nil}), nil); err != nil {
			return err
		}
		r, err := s.items.ReadItem(ctx, pk("ids"), "text", nil)
		m := fields(r.Value)
		_, null := m["nil"]
		return check(err == nil && m["v"] == text && null && fmt.Sprint(m["arr"]) == "[1 a <nil>]", "got %.300s, %v", r.Value, err)
	}},
	{"a partition key of any characters", func(ctx context.Context, s *site) error {
		p := "ü|项目|a_b"
		_, e1 := s.items.UpsertItem(ctx, pk(p), doc(p, "u1"), nil)
		_, e2 := s.items.ReadItem(ctx, pk(p), "u1", nil)
		return want(0, e1, e2)
	}},
}
