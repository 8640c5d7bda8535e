package cosmostest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// inQ1 runs a query in the partition q1, which it names too, as the sync does.
func (s *site) inQ1(ctx context.Context, query string, values map[string]any) ([]string, error) {
	o := given(values)
	o.QueryParameters = append(o.QueryParameters, azcosmos.QueryParameter{Name: "@pk", Value: "q1"})
	rows, _, err := all(ctx, s.items, query, pk("q1"), o)
	return rows, err
}

// rows checks the rows of a query in the partition q1.
func rows(query string, values map[string]any, expected ...string) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		got, err := s.inQ1(ctx, query, values)
		for i := range got {
			got[i] = strings.Join(strings.Fields(got[i]), "")
		}
		return check(err == nil && slices.Equal(got, expected), "got %v, %v", got, err)
	}
}

var queryCapabilities = []capability{
	{"sixty documents in each of two partitions", func(ctx context.Context, s *site) error {
		for _, p := range []string{"q1", "q2"} {
			for i := range 60 {
				kind := "msg"
				if i%3 == 0 {
					kind = "evt"
				}
				if _, err := s.items.UpsertItem(ctx, pk(p), doc(p, fmt.Sprintf("%s-%03d", p, i), "seq", i, "type", kind), nil); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"the header of the partition filters a query", func(ctx context.Context, s *site) error {
		got, _, err := all(ctx, s.items, "SELECT * FROM c WHERE c.type = @t ORDER BY c.seq", pk("q1"), given(map[string]any{"@t": "msg"}))
		return check(err == nil && len(got) == 40, "%d rows, %v", len(got), err)
	}},
	{
		"parameters, a range and ORDER BY",
		rows("SELECT c.seq FROM c WHERE c.pk = @pk AND c.type = @t AND c.seq > @a AND c.seq <= @b ORDER BY c.seq",
			map[string]any{"@t": "msg", "@a": 10, "@b": 16}, `{"seq":11}`, `{"seq":13}`, `{"seq":14}`, `{"seq":16}`),
	},
	{
		"ORDER BY DESC, and less and more at once",
		rows("SELECT c.seq FROM c WHERE c.pk = @pk AND c.seq >= @a AND c.seq < @b ORDER BY c.seq DESC",
			map[string]any{"@a": 56, "@b": 59}, `{"seq":58}`, `{"seq":57}`, `{"seq":56}`),
	},
	{
		"a projection",
		rows("SELECT c.id, c.seq FROM c WHERE c.pk = @pk AND c.seq = @n ORDER BY c.id", map[string]any{"@n": 5}, `{"id":"q1-005","seq":5}`),
	},
	{"a syntax error is 400", func(ctx context.Context, s *site) error {
		_, err := s.inQ1(ctx, "SELEKT * FROM c", nil)
		return want(400, err)
	}},
	{"pages of 25", func(ctx context.Context, s *site) error {
		o := given(map[string]any{"@pk": "q1"})
		o.PageSizeHint = 25
		got, pages, err := all(ctx, s.items, "SELECT c.id FROM c WHERE c.pk = @pk ORDER BY c.id", pk("q1"), o)
		return check(err == nil && len(slices.Compact(got)) == 60 && pages >= 3, "%d rows on %d pages, %v", len(got), pages, err)
	}},
	{"a continuation serves another pager", func(ctx context.Context, s *site) error {
		const query = "SELECT c.seq FROM c WHERE c.pk = @pk ORDER BY c.seq"
		o := given(map[string]any{"@pk": "q1"})
		o.PageSizeHint = 25
		first, err := s.items.NewQueryItemsPager(query, pk("q1"), o).NextPage(ctx)
		if err != nil || first.ContinuationToken == nil {
			return fmt.Errorf("no continuation, %w", err)
		}
		o.PageSizeHint, o.ContinuationToken = 100, first.ContinuationToken
		rest, _, err := all(ctx, s.items, query, pk("q1"), o)
		return check(err == nil && len(first.Items) == 25 && len(rest) == 35 && strings.Join(strings.Fields(rest[0]), "") == `{"seq":25}`, "%d and %d rows, %v", len(first.Items), len(rest), err)
	}},
}
