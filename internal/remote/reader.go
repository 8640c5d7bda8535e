package remote

import (
	"context"
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

// Segments lists what the cloud has of a stream of the session with the head t, behind
// record from, and what the head does not condemn.
func (r *Reader) Segments(ctx context.Context, t *head.Head, st segment.Stream, from int64) (infos []segment.Info, err error) {
	pk := segment.SessionPK(t.SID)
	condemned, err := r.Condemned(ctx, t)
	if err != nil {
		return nil, err
	}
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
		if info.Stream == st && info.PK == pk && !condemned[info.ID] {
			infos = append(infos, info)
		}
	}
	return infos, nil
}
