package cosmostest_test

import (
	"context"
	"fmt"
	"maps"
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

// counts checks the number of rows of queries that begin in the same way.
func counts(values map[string]any, wanted map[string]int) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		for _, condition := range slices.Sorted(maps.Keys(wanted)) {
			got, err := s.inQ1(ctx, "SELECT c.id FROM c WHERE c.pk = @pk AND "+condition, values)
			if err != nil || len(got) != wanted[condition] {
				return fmt.Errorf("%s: %d rows instead of %d, %v", condition, len(got), wanted[condition], err)
			}
		}
		return nil
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
		rows("SELECT VALUE c.seq FROM c WHERE c.pk = @pk AND c.type = @t AND c.seq > @a AND c.seq <= @b ORDER BY c.seq ASC",
			map[string]any{"@t": "msg", "@a": 10, "@b": 16}, "11", "13", "14", "16"),
	},
	{
		"ORDER BY DESC with OFFSET and LIMIT",
		rows("SELECT VALUE c.seq FROM c WHERE c.pk = @pk ORDER BY c.seq DESC OFFSET 1 LIMIT 3", nil, "58", "57", "56"),
	},
	{"TOP", rows("SELECT TOP 2 VALUE c.seq FROM c WHERE c.pk = @pk ORDER BY c.seq", nil, "0", "1")},
	{
		"a projection",
		rows("SELECT c.id, c.seq FROM c WHERE c.pk = @pk AND c.seq = @n", map[string]any{"@n": 5}, `{"id":"q1-005","seq":5}`),
	},
	{"COUNT", rows("SELECT VALUE COUNT(1) FROM c WHERE c.pk = @pk", nil, "60")},
	{"MAX", rows("SELECT VALUE MAX(c.seq) FROM c WHERE c.pk = @pk", nil, "59")},
	{"two aggregates", rows("SELECT COUNT(1) AS n, SUM(c.seq) AS s FROM c WHERE c.pk = @pk", nil, `{"n":60,"s":1770}`)},
	{
		"GROUP BY",
		rows("SELECT COUNT(1) AS n, c.type FROM c WHERE c.pk = @pk GROUP BY c.type", nil, `{"n":20,"type":"evt"}`, `{"n":40,"type":"msg"}`),
	},
	{"ORDER BY of two without a composite index is 400", func(ctx context.Context, s *site) error {
		_, err := s.inQ1(ctx, "SELECT c.id FROM c WHERE c.pk = @pk ORDER BY c.type ASC, c.seq DESC", nil)
		return want(400, err)
	}},
	{"IN and parameters that are arrays", counts(map[string]any{"@ids": []string{"q1-001", "q1-002"}}, map[string]int{
		"c.seq IN (1,2,3)":           3,
		"ARRAY_CONTAINS(@ids, c.id)": 2,
	})},
	{"functions of strings", counts(nil, map[string]int{
		"STARTSWITH(c.id, 'q1-00')": 10,
		"CONTAINS(c.id, '-01')":     10,
		"c.id LIKE 'q1-00%'":        10,
	})},
	{"IS_DEFINED", counts(nil, map[string]int{"IS_DEFINED(c.seq) AND NOT IS_DEFINED(c.zz)": 60})},
	{"BETWEEN", counts(nil, map[string]int{"c.seq BETWEEN 5 AND 9": 5})},
	{"a syntax error is 400", func(ctx context.Context, s *site) error {
		_, err := s.inQ1(ctx, "SELEKT * FROM c", nil)
		return want(400, err)
	}},
	{"pages of 25", func(ctx context.Context, s *site) error {
		o := given(map[string]any{"@pk": "q1"})
		o.PageSizeHint = 25
		got, pages, err := all(ctx, s.items, "SELECT c.id FROM c WHERE c.pk = @pk", pk("q1"), o)
		slices.Sort(got)
		return check(err == nil && len(slices.Compact(got)) == 60 && pages >= 3, "%d rows on %d pages, %v", len(got), pages, err)
	}},
	{"a continuation serves another pager", func(ctx context.Context, s *site) error {
		const query = "SELECT VALUE c.seq FROM c WHERE c.pk = @pk ORDER BY c.seq"
		o := given(map[string]any{"@pk": "q1"})
		o.PageSizeHint = 25
		first, err := s.items.NewQueryItemsPager(query, pk("q1"), o).NextPage(ctx)
		if err != nil || first.ContinuationToken == nil {
			return fmt.Errorf("no continuation, %w", err)
		}
		o.PageSizeHint, o.ContinuationToken = 100, first.ContinuationToken
		rest, _, err := all(ctx, s.items, query, pk("q1"), o)
		return check(err == nil && len(first.Items) == 25 && len(rest) == 35 && rest[0] == "25", "%d and %d rows, %v", len(first.Items), len(rest), err)
	}},
	{"a filter over all partitions", func(ctx context.Context, s *site) error {
		got, _, err := all(ctx, s.items, "SELECT c.id FROM c WHERE c.seq = @n", azcosmos.NewPartitionKey(), given(map[string]any{"@n": 7}))
		return check(err == nil && len(got) == 2, "%d rows, %v", len(got), err)
	}},
	{"ORDER BY over all partitions is 400", func(ctx context.Context, s *site) error {
		_, _, err := all(ctx, s.items, "SELECT c.id FROM c WHERE c.seq < 5 ORDER BY c.seq", azcosmos.NewPartitionKey(), nil)
		return want(400, err)
	}},
	{"ReadManyItems", func(ctx context.Context, s *site) error {
		var ids []azcosmos.ItemIdentity
		for _, p := range []string{"q1", "q2"} {
			for i := 55; i <= 60; i++ { // the last one is not there
				ids = append(ids, azcosmos.ItemIdentity{ID: fmt.Sprintf("%s-%03d", p, i), PartitionKey: pk(p)})
			}
		}
		r, err := s.items.ReadManyItems(ctx, ids, nil)
		return check(err == nil && len(r.Items) == 10, "%d items, %v", len(r.Items), err)
	}},
	{"the change feed: all, then what is new, then nothing", changeFeed},
}

func changeFeed(ctx context.Context, s *site) error {
	c := s.container("feed", azcosmos.ContainerProperties{
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2},
	})
	ranges, err := c.ReadFeedRanges(ctx, nil)
	if err != nil {
		return err
	}
	tokens := make([]string, len(ranges))
	news := func() (got []string, err error) {
		for i := range ranges {
			for range 100 {
				r, err := c.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &ranges[i], Continuation: &tokens[i]})
				if err != nil {
					return nil, err
				}
				if tokens[i] = r.ContinuationToken; len(r.Items) == 0 {
					break
				}
				for _, item := range r.Items {
					got = append(got, fields(item)["id"].(string))
				}
			}
		}
		slices.Sort(got)
		return got, nil
	}
	write := func(ids ...string) {
		for _, id := range ids {
			if err == nil {
				_, err = c.UpsertItem(ctx, pk(id), doc(id, id), nil)
			}
		}
	}
	write("a", "b", "c")
	first, e1 := news()
	write("b", "d")
	second, e2 := news()
	third, e3 := news()
	if err := want(0, err, e1, e2, e3); err != nil {
		return err
	}
	return check(slices.Equal(first, []string{"a", "b", "c"}) && slices.Equal(second, []string{"b", "d"}) && len(third) == 0,
		"got %v, %v, %v", first, second, third)
}
