package remoteread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Known is a head as it was last read or written; the zero Known is none.
type Known struct {
	Version remote.Version  `json:"version,omitempty"`
	Doc     json.RawMessage `json:"doc,omitempty"`
}

// Head reads the head of a session, and returns nil when there is none. known is
// the head as it was last read or written: one that has not changed since costs one
// point read. The error Is [ErrHead] when there is a head that cannot be followed, and
// [ErrOlder] when the answer is older than known.
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

// Head returns the head that h is, nil for none that can be read.
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
