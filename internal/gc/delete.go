package gc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// ErrShared tells that sessions forked from this one need its lines. Package
// hybrid documents it.
var ErrShared = errors.New("other sessions continue this one")

// Unshared returns an error that Is [ErrShared] when forks need lines of the
// session, or one may be about to: its first upload began less than a week ago.
// The answer holds for as long as the session's head does not change.
func Unshared(ctx context.Context, r *remote.Reader, sid string) error {
	for row, err := range r.Query(ctx, cosmos.Forks(segment.SessionPK(sid))) {
		if err != nil {
			return err
		}
		d, ok, err := decodeFork(row)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		doc, err := r.HeadDocument(ctx, d.Child)
		if err != nil {
			return err
		}
		if doc == nil {
			if r.Time().Sub(d.written()) < firstGrace {
				return fmt.Errorf("%w: one is being made", ErrShared)
			}
			if none, err := r.Headless(ctx, d.Child); err != nil || none {
				if err != nil {
					return err
				}
				continue
			}
			return ErrShared
		}
		if child, err := head.Decode(doc.Body, d.Child); err != nil || leadsTo(child, sid) {
			return ErrShared
		}
	}
	return nil
}

// decodeFork decodes a document that names a fork. ok is false for one of another tool.
func decodeFork(row []byte) (d document, ok bool, err error) {
	if err := segment.Probe(row, head.TypeFork); errors.Is(err, segment.ErrFormat) {
		return d, false, err
	}
	return d, json.Unmarshal(row, &d) == nil && d.Child != "", nil
}
