package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// enter writes an entry, unless there is one of a later revision, and returns
// its etag. etag is what the last entry written here got.
func (l *link) enter(ctx context.Context, entry *tip.Catalogue, etag azcore.ETag) (azcore.ETag, error) {
	doc, err := entry.Encode()
	if err != nil {
		return "", err
	}
	for range rounds {
		next, v := l.swap(ctx, doc.PK, doc.ID, doc.Body, etag)
		switch v.class {
		case fine:
			return next, nil
		case missing:
			if etag == "" {
				return "", noSuchContainer(v)
			}
		case exists, changed, shaky:
		default:
			return "", v.err
		}
		found, err := l.read(ctx, doc.PK, doc.ID, "")
		if err != nil {
			return "", err
		}
		if etag = ""; found == nil {
			continue
		}
		etag = found.etag
		if there, err := tip.DecodeCatalogue(found.body, entry.UID); err == nil && there.Revision >= entry.Revision {
			return etag, nil
		}
	}
	return "", ErrContended
}

const (
	listCatalogue = `SELECT * FROM c WHERE c.pk = @pk AND c.type = 'cat' AND c.project = @project ORDER BY c.updated DESC`
	listNews      = `SELECT * FROM c WHERE c.pk = @pk AND c.type = 'cat' AND c.project = @project AND c._ts >= @since ORDER BY c._ts`
)

// entries yields the catalogue of a user's project, the session that changed
// last first.
func (l *link) entries(ctx context.Context, uid, project string) iter.Seq2[tip.Catalogue, error] {
	return catalogued(uid, l.query(ctx, segment.UserPK(uid), listCatalogue, azcosmos.QueryParameter{Name: "@project", Value: project}))
}

// news yields the entries that were written since a time of the server, in
// seconds, and puts the latest such time into since.
func (l *link) news(ctx context.Context, uid, project string, since *int64) iter.Seq2[tip.Catalogue, error] {
	rows := l.query(ctx, segment.UserPK(uid), listNews,
		azcosmos.QueryParameter{Name: "@project", Value: project}, azcosmos.QueryParameter{Name: "@since", Value: *since})
	return catalogued(uid, func(yield func([]byte, error) bool) {
		for row, err := range rows {
			var at struct {
				TS int64 `json:"_ts"`
			}
			if err == nil && json.Unmarshal(row, &at) == nil {
				*since = max(*since, at.TS)
			}
			if !yield(row, err) {
				return
			}
		}
	})
}

// catalogued decodes entries. Documents that are none of ours are passed over.
func catalogued(uid string, rows iter.Seq2[[]byte, error]) iter.Seq2[tip.Catalogue, error] {
	return func(yield func(tip.Catalogue, error) bool) {
		for row, err := range rows {
			if err != nil {
				yield(tip.Catalogue{}, err)
				return
			}
			entry, err := tip.DecodeCatalogue(row, uid)
			if errors.Is(err, segment.ErrForeign) || errors.Is(err, segment.ErrDamaged) {
				continue
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}
