package remoteread

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Entry is an entry of the catalogue as it was read.
type Entry struct {
	head.Catalogue
	Version remote.Version
	Written time.Time // by the remote's clock
}

// Entries yields the catalogue of a project, in the order of the sessions' keys: the entries
// behind a key that were written at a time or later, by the remote's clock. Documents of other
// tools are passed over.
func (r *Reader) Entries(ctx context.Context, uid, after string, since time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for o, err := range r.List(ctx, segment.UserPK(uid), remote.Query{After: after, Since: since}) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			entry, ok, err := decodeEntry(&o, uid)
			if (ok || err != nil) && !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// EntryOf returns a session's entry in a catalogue; nil for none, or none of this library. It
// is one point read.
func (r *Reader) EntryOf(ctx context.Context, uid, sid string) (*Entry, error) {
	o, err := r.Get(ctx, segment.UserPK(uid), sid, "")
	if err != nil || o == nil {
		return nil, err
	}
	e, ok, err := decodeEntry(o, uid)
	if err != nil || !ok {
		return nil, err
	}
	return &e, nil
}

// decodeEntry decodes an entry. ok is false when it is of another tool.
func decodeEntry(o *remote.Object, uid string) (entry Entry, ok bool, _ error) {
	c, err := head.DecodeCatalogue(o.Name, o.Label, uid)
	if errors.Is(err, segment.ErrForeign) || errors.Is(err, segment.ErrDamaged) {
		return Entry{}, false, nil
	}
	return Entry{Catalogue: c, Version: o.Version, Written: o.Time}, err == nil, err
}

// maxRounds is how often WriteEntry looks at what another device wrote.
const maxRounds = 5

// WriteEntry writes an entry, unless there is one of a later revision, and returns its
// version. last is the version of the last entry that this device wrote, or "". The error Is
// [ErrContended] when other devices keep writing it, and [remote.ErrUnknown] when it is not
// known whether it was written.
func (r *Reader) WriteEntry(ctx context.Context, entry *head.Catalogue, last remote.Version) (remote.Version, error) {
	doc, err := entry.Encode()
	if err != nil {
		return "", err
	}
	why := error(ErrContended)
	for range maxRounds {
		v, err := r.Commit(ctx, doc.PK, nil, Swap(doc, last))
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, remote.ErrUnknown):
			why = err
		case errors.Is(err, remote.ErrChanged):
			why = ErrContended
		default:
			return "", err
		}
		there, err := r.Get(ctx, doc.PK, doc.ID, "")
		if err != nil {
			return "", err
		}
		if last = ""; there == nil {
			continue
		}
		last = there.Version
		switch e, err := head.DecodeCatalogue(there.Name, there.Label, entry.UID); {
		case errors.Is(err, segment.ErrFormat):
			return "", err
		case err == nil && (e.Revision > entry.Revision || e.Revision == entry.Revision && (entry.Deleted || !e.Deleted)):
			return last, nil // an entry whose first upload never ended is deleted, and may come
		}
	}
	return "", why
}
