package gc

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/jitter"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Session is a session to be pruned, and what is known of it.
type Session struct {
	SID    string
	Reader *remote.Reader // makes all requests
	Head   remote.Known   // the head as it was last read or written; Prune brings it up to date
	Entry  *cosmos.Entry  // of the catalogue; nil: it is left alone
	Device string         // that prunes
	Random *jitter.Source
}

// pruner prunes one session.
type pruner struct {
	s     *Session
	o     Options
	head  *head.Head // nil: none
	guard cosmos.Guard
	sum   Result

	histories []head.History // all that the head counts
}

// errLagging tells that a replica lacked a head. A round that meets it begins again.
var errLagging = fmt.Errorf("%w: a replica lacked it", cosmos.ErrLost)

// readHead reads the head and guards it, and reads the histories that it counts.
func (p *pruner) readHead(ctx context.Context) error {
	t, known, err := p.s.Reader.Head(ctx, p.s.SID, p.s.Head)
	if err != nil {
		return err
	}
	p.head, p.histories, p.s.Head = t, nil, known
	if t == nil {
		return nil
	}
	doc, err := t.Encode()
	if err != nil {
		return err
	}
	p.guard = cosmos.Guard{Conn: p.s.Reader, PK: doc.PK, ID: doc.ID, Body: doc.Body, ETag: known.ETag}
	p.histories, err = p.s.Reader.Histories(ctx, t, known.ETag)
	return err
}

// noteHead notes the head as the guard wrote it last.
func (p *pruner) noteHead() {
	if p.guard.ETag != p.s.Head.ETag {
		p.s.Head = remote.Known{ETag: p.guard.ETag, Token: p.s.Reader.Token(), Doc: p.guard.Body}
	}
}

// remove removes documents as they were listed, under the guard of the head. What
// leads to other documents comes before these.
func (p *pruner) remove(ctx context.Context, garbage []*document) error {
	if p.o.Plan {
		p.sum.Removed += len(garbage)
		return nil
	}
	removed, err := p.guard.Apply(ctx, deletions(garbage))
	p.sum.Removed += removed
	if err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	return nil
}

// pk returns the partition of the session's head.
func (p *pruner) pk() string { return segment.SessionPK(p.s.SID) }
