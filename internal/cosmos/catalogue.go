package cosmos

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Entry is an entry of the catalogue as it was read.
type Entry struct {
	head.Catalogue
	ETag    ETag
	Written time.Time // by the service's clock, to the second
}

// Entries yields the catalogue of a user's project: the entries written since a
// time by the service's clock, the earliest first; or all, the session that
// changed last first, when since is the zero time. Documents of other tools are
// passed over.
func Entries(ctx context.Context, c Conn, uid, project string, since time.Time) iter.Seq2[Entry, error] {
	from := int64(0)
	if !since.IsZero() {
		from = since.Unix()
	}
	return func(yield func(Entry, error) bool) {
		for row, err := range c.Query(ctx, catalogue(segment.UserPK(uid), project, from)) {
			entry, ok, err := decodeEntry(row, uid, err)
			if ok && !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// EntriesPage returns, in one request, entries of the catalogue of a user's
// project that were written since a time in seconds by the service's clock, or of
// all when since is 0, the earliest first; without ETags and parents. next and more are
// continuations; see [Conn.Page].
func EntriesPage(ctx context.Context, c Conn, uid, project string, since int64, next string) (entries []Entry, more string, err error) {
	rows, more, err := c.Page(ctx, written(segment.UserPK(uid), project, since), next)
	if err != nil {
		return nil, "", err
	}
	for _, row := range rows {
		entry, ok, err := decodeEntry(row, uid, nil)
		if err != nil {
			return nil, "", err
		}
		if ok {
			entries = append(entries, entry)
		}
	}
	return entries, more, nil
}

// HasEntry reports whether the catalogue of a user has an entry, of at least a
// revision. It is one point read.
func HasEntry(ctx context.Context, c Conn, uid, sid string, revision int64) (bool, error) {
	has, err := EntryRevision(ctx, c, uid, sid)
	if errors.Is(err, segment.ErrFormat) {
		return true, nil
	}
	return has >= revision, err
}

// EntryRevision returns the revision of a session's entry in the catalogue of a user; 0
// for none, or none of this library. It is one point read.
func EntryRevision(ctx context.Context, c Conn, uid, sid string) (int64, error) {
	e, err := EntryOf(ctx, c, uid, sid)
	if err != nil || e == nil {
		return 0, err
	}
	return e.Revision, nil
}

// EntryOf returns a session's entry in the catalogue of a user; nil for none, or none of
// this library. It is one point read.
func EntryOf(ctx context.Context, c Conn, uid, sid string) (*Entry, error) {
	doc, err := c.Get(ctx, segment.UserPK(uid), sid, "")
	if err != nil || doc == nil {
		return nil, err
	}
	e, ok, err := decodeEntry(doc.Body, uid, nil)
	if err != nil || !ok {
		return nil, err
	}
	e.ETag = doc.ETag
	return &e, nil
}

// decodeEntry decodes a row of the catalogue. ok is false when it is of another
// tool.
func decodeEntry(row []byte, uid string, err error) (entry Entry, ok bool, _ error) {
	var d struct {
		ETag ETag  `json:"_etag"`
		TS   int64 `json:"_ts"`
	}
	if err != nil {
		return Entry{}, true, err
	}
	if json.Unmarshal(row, &d) != nil {
		return Entry{}, false, nil
	}
	c, err := head.DecodeCatalogue(row, uid)
	if errors.Is(err, segment.ErrForeign) || errors.Is(err, segment.ErrDamaged) {
		return Entry{}, false, nil
	}
	return Entry{Catalogue: c, ETag: d.ETag, Written: time.Unix(d.TS, 0).UTC()}, true, err
}

// maxRounds is how often WriteEntry looks at what another device wrote.
const maxRounds = 5

// WriteEntry writes an entry, unless there is one of a later revision, and returns
// its ETag. last is the ETag of the last entry that this device wrote, or "". The
// error Is [ErrContended] when other devices keep writing it, and [ErrUnreachable]
// when nobody knows whether it was written.
func WriteEntry(ctx context.Context, c Conn, entry *head.Catalogue, last ETag) (ETag, error) {
	doc, err := entry.Encode()
	if err != nil {
		return "", err
	}
	why := error(ErrContended)
	for range maxRounds {
		a := c.Batch(ctx, doc.PK, Swap(doc.ID, doc.Body, last))
		switch a.Class {
		case OK:
			return a.ETag(0), nil
		case Unknown:
			why = a.Err
		case Missing, Exists, Changed:
			why = ErrContended
		default:
			return "", a.Err
		}
		there, err := c.Get(ctx, doc.PK, doc.ID, "")
		if err != nil {
			return "", err
		}
		if last = ""; there == nil {
			continue
		}
		last = there.ETag
		switch e, err := head.DecodeCatalogue(there.Body, entry.UID); {
		case errors.Is(err, segment.ErrFormat):
			return "", err
		case err == nil && (e.Revision > entry.Revision || e.Revision == entry.Revision && (entry.Deleted || !e.Deleted)):
			return last, nil // an entry whose first upload never ended is deleted, and may come
		}
	}
	return "", why
}
