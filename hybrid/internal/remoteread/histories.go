package remoteread

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Histories returns the former heads and branches that the head t names, which was read
// in a version. A head without any costs no request. Where the list lacks one, it is read
// once more if the head is still that version; if not, the error Is [ErrLost]. With an
// [ErrDamaged] it returns what could be read: who removes documents, or decides by what is
// not listed, must stop.
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
