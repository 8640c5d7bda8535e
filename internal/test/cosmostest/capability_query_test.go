package cosmostest_test

import (
	"context"
	"fmt"
	"slices"
)

// between returns the ids of a partition from one number up to another.
func between(p string, from, to int) (ids []string) {
	for i := from; i < to; i++ {
		ids = append(ids, fmt.Sprintf("%s-%03d", p, i))
	}
	return ids
}

// lists checks the ids of a list.
func lists(l list, expected ...string) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		got, _, err := l.ids(ctx, s.items)
		return check(err == nil && slices.Equal(got, expected), "got %v, %v", got, err)
	}
}

var queryCapabilities = []capability{
	{"sixty documents in each of two partitions", func(ctx context.Context, s *site) error {
		for _, p := range []string{"q1", "q2"} {
			for _, id := range slices.Backward(between(p, 0, 60)) {
				if _, err := s.items.UpsertItem(ctx, pk(p), doc(p, id, "label", map[string]any{"type": "t"}, "v", 3, "text", id), nil); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"a list is of one partition, in the order of ids", lists(list{part: "q1"}, between("q1", 0, 60)...)},
	{"a list begins behind an id", lists(list{part: "q1", after: "q1-056"}, between("q1", 57, 60)...)},
	{"a list ends before an id", lists(list{part: "q1", after: "q1-010", end: "q1-016"}, between("q1", 11, 16)...)},
	{"a list has what was written since a time", func(ctx context.Context, s *site) error {
		rows, err := list{part: "q1", after: "q1-058"}.pager(s.items).NextPage(ctx)
		if err != nil || len(rows.Items) != 1 {
			return fmt.Errorf("%d rows, %w", len(rows.Items), err)
		}
		at, _ := fields(rows.Items[0])["_ts"].(float64)
		got, _, e1 := list{part: "q1", after: "q1-058", since: int64(at)}.ids(ctx, s.items)
		none, _, e2 := list{part: "q1", end: "q1-100", since: int64(at) + 3600}.ids(ctx, s.items)
		return check(e1 == nil && e2 == nil && len(got) == 1 && len(none) == 0, "got %v and %v, %v, %v", got, none, e1, e2)
	}},
	{"a row has the members that are asked for", func(ctx context.Context, s *site) error {
		rows, err := list{part: "q1", after: "q1-058"}.pager(s.items).NextPage(ctx)
		if err != nil || len(rows.Items) != 1 {
			return fmt.Errorf("%d rows, %w", len(rows.Items), err)
		}
		m := fields(rows.Items[0])
		_, text := m["text"]
		tag, _ := m["_etag"].(string)
		return check(!text && m["v"] == 3.0 && fmt.Sprint(m["label"]) == "map[type:t]" && tag != "" && len(m) == 5, "got %.300s", rows.Items[0])
	}},
	{"pages of 25", func(ctx context.Context, s *site) error {
		got, pages, err := list{part: "q1", rows: 25}.ids(ctx, s.items)
		return check(err == nil && len(slices.Compact(got)) == 60 && len(pages) >= 3, "%d rows on pages of %v, %v", len(got), pages, err)
	}},
	{"a continuation serves another pager", func(ctx context.Context, s *site) error {
		first, err := list{part: "q1", rows: 25}.pager(s.items).NextPage(ctx)
		if err != nil || first.ContinuationToken == nil {
			return fmt.Errorf("no continuation, %w", err)
		}
		rest, _, err := list{part: "q1", rows: 100, next: first.ContinuationToken}.ids(ctx, s.items)
		return check(err == nil && len(first.Items) == 25 && slices.Equal(rest, between("q1", 25, 60)), "%d and %v, %v", len(first.Items), rest, err)
	}},
}
