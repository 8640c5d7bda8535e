package remoteread

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
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
