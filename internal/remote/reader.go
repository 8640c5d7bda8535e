package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Reader makes the requests of one piece of work. Its methods may be called by
// several goroutines.
type Reader struct {
	cosmos.Conn
	Alone bool // it makes one request at a time
}

// atOnce returns how many of n requests are made at once.
func (r *Reader) atOnce(n int) int {
	if r.Alone {
		return 1
	}
	return n
}

// HeadDocument reads the document of the head of any session, nil when it has none.
func (r *Reader) HeadDocument(ctx context.Context, sid string) (*cosmos.Document, error) {
	return r.Get(ctx, segment.SessionPK(sid), segment.HeadID(sid), "")
}

// Headless reports whether a session has no head. It looks for it among the documents of
// the session too: a replica that lags may lack the head when it is asked for that alone.
// What is removed because there is no head is asked for in this way.
func (r *Reader) Headless(ctx context.Context, sid string) (bool, error) {
	doc, err := r.HeadDocument(ctx, sid)
	if err != nil || doc != nil {
		return false, err
	}
	for row, err := range r.Query(ctx, cosmos.Inventory(segment.SessionPK(sid))) {
		var d struct{ ID string }
		if err != nil {
			return false, err
		}
		if json.Unmarshal(row, &d) == nil && d.ID == segment.HeadID(sid) {
			return false, nil
		}
	}
	return true, nil
}

// ancestors is how many forks of forks are followed. Each loop in a damaged
// lineage ends there.
const ancestors = 64

// Segments lists what the cloud has of a stream behind record from: segments of
// the session whose head is t, and of those that it was forked from.
func (r *Reader) Segments(ctx context.Context, t *head.Head, st segment.Stream, from int64) (infos []segment.Info, err error) {
	for range ancestors {
		if infos, err = r.list(ctx, infos, segment.SessionPK(t.SID), st, from); err != nil {
			return nil, err
		}
		if t.From == nil || st != segment.Transcript || t.From.N <= from {
			return infos, nil
		}
		if t, err = r.Parent(ctx, t); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// Parent returns the head of the session that t was forked from. Where that has
// none any more, it returns as much of one as it takes to look for segments.
func (r *Reader) Parent(ctx context.Context, t *head.Head) (*head.Head, error) {
	sid := t.From.SID
	doc, err := r.HeadDocument(ctx, sid)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return &head.Head{SID: sid}, nil
	}
	return head.Decode(doc.Body, sid)
}

func (r *Reader) list(ctx context.Context, infos []segment.Info, pk string, st segment.Stream, from int64) ([]segment.Info, error) {
	for row, err := range r.Query(ctx, cosmos.Segments(pk, string(st), from)) {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		info, err := segment.DecodeInfo(row)
		switch {
		case errors.Is(err, segment.ErrFormat):
			return nil, fmt.Errorf("list segments: %w", err)
		case err != nil: // of another tool, or damaged: others may hold its lines
			continue
		}
		if info.Stream == st && info.PK == pk {
			infos = append(infos, info)
		}
	}
	return infos, nil
}
