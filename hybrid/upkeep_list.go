package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// listed is an entry of the catalogue as it was read.
type listed struct {
	tip.Catalogue
	etag azcore.ETag
	at   time.Time // when it was written, by the server's clock
}

// listing yields the catalogue of a user's project.
func (l *link) listing(ctx context.Context, uid, project string) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		rows := l.query(ctx, segment.UserPK(uid), listCatalogue, azcosmos.QueryParameter{Name: "@project", Value: project})
		for row, err := range rows {
			var d struct {
				ETag azcore.ETag `json:"_etag"`
				TS   int64       `json:"_ts"`
			}
			if err == nil {
				err = json.Unmarshal(row, &d)
			}
			if err != nil {
				yield(listed{}, err)
				return
			}
			c, err := tip.DecodeCatalogue(row, uid)
			if errors.Is(err, segment.ErrForeign) || errors.Is(err, segment.ErrDamaged) {
				continue
			}
			if !yield(listed{c, d.ETag, time.Unix(d.TS, 0).UTC()}, err) || err != nil {
				return
			}
		}
	}
}
