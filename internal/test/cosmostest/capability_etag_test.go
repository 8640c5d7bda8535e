package cosmostest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// tag puts a fresh document at id and returns its etag.
func (s *site) tag(ctx context.Context, id string) (azcore.ETag, error) {
	if _, err := s.items.UpsertItem(ctx, pk("a"), doc("a", id, "v", 1), nil); err != nil {
		return "", err
	}
	r, err := s.items.ReadItem(ctx, pk("a"), id, nil)
	if err != nil {
		return "", err
	}
	tag, _ := fields(r.Value)["_etag"].(string)
	return azcore.ETag(tag), nil
}

var etagCapabilities = []capability{
	{"a replacement names the etag: 412 for a stale one", func(ctx context.Context, s *site) error {
		tag, err := s.tag(ctx, "e1")
		if err != nil {
			return err
		}
		stale := azcore.ETag(`"0000dead-0000"`)
		for tag, code := range map[*azcore.ETag]int{&stale: 412, &tag: 0} {
			_, err := s.items.ReplaceItem(ctx, pk("a"), "e1", doc("a", "e1", "v", 2), &azcosmos.ItemOptions{IfMatchEtag: tag})
			if err := want(code, err); err != nil {
				return err
			}
		}
		return nil
	}},
	{"every write changes the etag", func(ctx context.Context, s *site) error {
		a, e1 := s.tag(ctx, "e5")
		b, e2 := s.tag(ctx, "e5")
		return check(e1 == nil && e2 == nil && a != "" && a != b, "%q then %q, %v %v", a, b, e1, e2)
	}},
	{"eight writers who compare and swap lose nothing", func(ctx context.Context, s *site) error {
		if _, err := s.items.UpsertItem(ctx, pk("a"), doc("a", "cas", "n", 0), nil); err != nil {
			return err
		}
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for w := range errs {
			wg.Go(func() {
				for range 10 {
					if errs[w] = s.increment(ctx, "cas"); errs[w] != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		if err := want(0, errs...); err != nil {
			return err
		}
		r, err := s.items.ReadItem(ctx, pk("a"), "cas", nil)
		return check(err == nil && fields(r.Value)["n"] == 80.0, "80 increments made %v, %v", fields(r.Value)["n"], err)
	}},
	{"a read with If-None-Match is 304", func(ctx context.Context, s *site) error {
		tag, err := s.tag(ctx, "e6")
		if err != nil {
			return err
		}
		r, err := s.items.ReadItem(with(ctx, "If-None-Match", string(tag)), pk("a"), "e6", nil)
		if err != nil {
			return err
		}
		return check(r.RawResponse.StatusCode == 304 && len(r.Value) == 0, "status %d", r.RawResponse.StatusCode)
	}},
	{"a wrong key is 401", func(ctx context.Context, s *site) error {
		key := strings.Repeat("B", 86) + "=="
		c, err := connect(s.t, s.endpoint, key, s.transport).NewContainer(s.database.ID(), "items")
		if err != nil {
			return err
		}
		_, err = c.ReadItem(ctx, pk("a"), "i1", nil)
		return want(401, err)
	}},
}

// increment adds one to the member n of a document, by compare and swap.
func (s *site) increment(ctx context.Context, id string) error {
	for range 1000 {
		r, err := s.items.ReadItem(ctx, pk("a"), id, nil)
		if err != nil {
			return err
		}
		n, _ := fields(r.Value)["n"].(float64)
		tag := r.ETag
		_, err = s.items.ReplaceItem(ctx, pk("a"), id, doc("a", id, "n", n+1), &azcosmos.ItemOptions{IfMatchEtag: &tag})
		if status(err) != 412 {
			return err
		}
	}
	return fmt.Errorf("never the first")
}
