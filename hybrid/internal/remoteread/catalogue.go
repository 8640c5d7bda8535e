package remoteread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// maxRounds is the number of tries of WriteEntry while other devices write the entry.
const maxRounds = 5

// WriteEntry writes an entry, unless there is one of a later revision, and returns its
// version. last is the version of the last entry that this device knows, or "". The error Is
// [ErrContended] when other devices keep writing it, and [remote.ErrUnknown] when it is not
// known whether it was written.
func (r *Reader) WriteEntry(ctx context.Context, entry *head.Catalogue, last remote.Version) (remote.Version, error) {
	doc, err := entry.Encode()
	if err != nil {
		return "", err
	}
	why := error(ErrContended)
	for round := range maxRounds {
		v, err := remote.Version(""), remote.ErrChanged
		if round > 0 || last != "" || entry.Revision == 1 { // else another device has entered it
			v, err = r.Commit(ctx, doc.PK, nil, Swap(doc, last))
		}
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

// Histories returns the former heads and branches that the head t names, which was read
// in a version. A head without any costs no request. Where the list lacks one, it is read
// once more if the head is still that version; if not, the error Is [ErrLost]. With an
// [ErrDamaged] it returns the histories that could be read: a caller that removes
// documents, or decides by the absence of one, must stop.
func (r *Reader) Histories(ctx context.Context, t *head.Head, version remote.Version) (all []head.History, err error) {
	if t.Histories.Len() == 0 {
		return nil, nil
	}
	for again := false; ; again = true {
		all, err = r.listHistories(ctx, t)
		if err != nil || len(all) == t.Histories.Len() {
			return all, err
		}
		if again {
			return all, fmt.Errorf("%w: its list of former heads and branches has %d of %d: where a replica lags, try again later",
				ErrDamaged, len(all), t.Histories.Len())
		}
		_, err := r.Get(ctx, segment.SessionPK(t.SID), segment.HeadID(t.SID), version)
		if err == nil {
			err = ErrLost
		}
		if !errors.Is(err, remote.ErrUnchanged) {
			return all, fmt.Errorf("list histories: %w", err)
		}
	}
}

// listHistories lists the histories that the head t names.
func (r *Reader) listHistories(ctx context.Context, t *head.Head) (all []head.History, err error) {
	for o, err := range r.List(ctx, segment.SessionPK(t.SID), remote.Query{Prefix: segment.HistoryID(t.SID, "")}) {
		if err != nil {
			return nil, fmt.Errorf("list histories: %w", err)
		}
		if !t.Histories.Has(o.Name) {
			continue
		}
		h, err := head.DecodeHistory(o.Name, o.Label, t.SID)
		if errors.Is(err, segment.ErrFormat) {
			return nil, fmt.Errorf("list histories: %w", err)
		}
		if err == nil {
			all = append(all, h)
		}
	}
	return all, nil
}

// Known is a head as it was last read or written; the zero Known is none.
type Known struct {
	Version remote.Version  `json:"version,omitempty"`
	Doc     json.RawMessage `json:"doc,omitempty"`
}

// Head reads the head of a session, and returns nil when there is none. known is the head
// as it was last read or written: an unchanged head costs one point read. The error Is
// [ErrHead] when there is a head that cannot be followed, and [ErrOlder] when the answer
// is older than known.
func (r *Reader) Head(ctx context.Context, sid string, known Known) (*head.Head, Known, error) {
	version := known.Version
	if len(known.Doc) == 0 {
		version = ""
	}
	doc, err := r.Get(ctx, segment.SessionPK(sid), segment.HeadID(sid), version)
	now := known
	switch {
	case errors.Is(err, remote.ErrUnchanged):
	case err != nil:
		return nil, Known{}, fmt.Errorf("read head: %w", err)
	case doc == nil:
		return nil, Known{}, nil
	default:
		now = Known{Version: doc.Version, Doc: doc.Body}
		if err := segment.Probe(doc.Label, head.TypeHead); err != nil {
			return nil, Known{}, unreadable(err)
		}
	}
	t, err := head.Decode(now.Doc, sid)
	if err != nil {
		return nil, Known{}, unreadable(err)
	}
	if last := known.Head(sid); last != nil && (last.Born == t.Born || t.Deleted) && t.Revision < last.Revision {
		return nil, Known{}, ErrOlder
	}
	return t, now, nil
}

// Head returns the decoded head, nil for none that can be read.
func (h *Known) Head(sid string) *head.Head {
	if len(h.Doc) == 0 {
		return nil
	}
	t, err := head.Decode(h.Doc, sid)
	if err != nil {
		return nil
	}
	return t
}
