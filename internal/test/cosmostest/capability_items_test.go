package cosmostest_test

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

var itemCapabilities = []capability{
	{"a second database of the name is 409", func(ctx context.Context, s *site) error {
		_, err := s.client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: s.database.ID()}, nil)
		return want(409, err)
	}},
	{"a second container of the name is 409", func(ctx context.Context, s *site) error {
		_, err := s.database.CreateContainer(ctx, properties("items"), nil)
		return want(409, err)
	}},
	{"a container keeps its properties", func(ctx context.Context, s *site) error {
		r, err := s.items.Read(ctx, nil)
		if err != nil {
			return err
		}
		p := r.ContainerProperties
		return check(p.PartitionKeyDefinition.Paths[0] == "/pk" && len(p.IndexingPolicy.IncludedPaths) == 1, "got %+v", p)
	}},
	{"create and read tell the etag of the document", func(ctx context.Context, s *site) error {
		w, err := s.items.CreateItem(ctx, pk("a"), doc("a", "i1", "v", 1), nil)
		if err != nil {
			return err
		}
		r, err := s.items.ReadItem(ctx, pk("a"), "i1", nil)
		if err != nil {
			return err
		}
		tag := fields(r.Value)["_etag"]
		return check(w.ETag != "" && w.ETag == r.ETag && string(r.ETag) == tag, "etags %q, %q and %q", w.ETag, r.ETag, tag)
	}},
	{"a write returns no content", func(ctx context.Context, s *site) error {
		r, err := s.items.UpsertItem(ctx, pk("a"), doc("a", "quiet"), nil)
		if err != nil {
			return err
		}
		return check(len(r.Value) == 0, "%d bytes", len(r.Value))
	}},
	{"create of what is there is 409", func(ctx context.Context, s *site) error {
		_, err := s.items.CreateItem(ctx, pk("a"), doc("a", "i1"), nil)
		return want(409, err)
	}},
	{"partitions have ids of their own", func(ctx context.Context, s *site) error {
		_, err := s.items.CreateItem(ctx, pk("b"), doc("b", "i1", "v", "other"), nil)
		if err != nil {
			return err
		}
		r, err := s.items.ReadItem(ctx, pk("a"), "i1", nil)
		if err != nil {
			return err
		}
		return check(fields(r.Value)["v"] == 1.0, "got the document of the other partition")
	}},
	{"read of what is not there is 404", func(ctx context.Context, s *site) error {
		_, err := s.items.ReadItem(ctx, pk("a"), "none", nil)
		return want(404, err)
	}},
	{"read in the wrong partition is 404", func(ctx context.Context, s *site) error {
		_, err := s.items.ReadItem(ctx, pk("zzz"), "i1", nil)
		return want(404, err)
	}},
	{"a document of another partition than the header's is 400", func(ctx context.Context, s *site) error {
		_, err := s.items.CreateItem(ctx, pk("a"), doc("other", "mismatch"), nil)
		return want(400, err)
	}},
	{"replace, and 404 for what is not there", func(ctx context.Context, s *site) error {
		tag := azcore.ETag(`"0000dead-0000"`)
		err := replaced(ctx, s.items, "a", "i1", doc("a", "i1", "v", 2))
		_, none := s.items.ReplaceItem(ctx, pk("a"), "none", doc("a", "none"), &azcosmos.ItemOptions{IfMatchEtag: &tag})
		if err != nil {
			return err
		}
		return want(404, none)
	}},
	{"delete, and 404 the second time", func(ctx context.Context, s *site) error {
		_, e1 := s.items.UpsertItem(ctx, pk("a"), doc("a", "gone"), nil)
		_, e2 := s.items.DeleteItem(ctx, pk("a"), "gone", nil)
		_, e3 := s.items.DeleteItem(ctx, pk("a"), "gone", nil)
		if err := want(0, e1, e2); err != nil {
			return err
		}
		return want(404, e3)
	}},
	{"numbers are doubles", func(ctx context.Context, s *site) error {
		body := `{"id":"numbers","pk":"a","n":9007199254740991,"f":0.1,"z":1e-7}`
		if _, err := s.items.UpsertItem(ctx, pk("a"), []byte(body), nil); err != nil {
			return err
		}
		r, err := s.items.ReadItem(ctx, pk("a"), "numbers", nil)
		m := fields(r.Value)
		return check(err == nil && m["n"] == 9007199254740991.0 && m["f"] == 0.1 && m["z"] == 1e-7, "got %s, %v", r.Value, err)
	}},
	{"a missing container is 404", func(ctx context.Context, s *site) error {
		c, err := s.database.NewContainer("none")
		if err != nil {
			return err
		}
		_, e1 := c.ReadItem(ctx, pk("a"), "i1", nil)
		_, e2 := c.CreateItem(ctx, pk("a"), doc("a", "x"), nil)
		return want(404, e1, e2)
	}},
}
