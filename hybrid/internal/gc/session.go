package gc

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Session is a session to be pruned, and what is known of it.
type Session struct {
	SID    string
	Reader *remoteread.Reader // makes all requests
	Head   remoteread.Known   // the head as it was last read or written; Prune brings it up to date
	Entry  *remoteread.Entry  // of the catalogue; nil: it is left alone
	Device string             // that prunes
	Random *jitter.Source
}

// pruner prunes one session.
type pruner struct {
	s    *Session
	o    Options
	head *head.Head // nil: none
	sum  Result

	histories []head.History // all that the head names
}

// errLagging tells that a list of documents did not have the head that was read. A round
// that meets it begins again.
var errLagging = fmt.Errorf("%w: the list of documents has another one", remoteread.ErrLost)

// readHead reads the head.
func (p *pruner) readHead(ctx context.Context) error {
	t, known, err := p.s.Reader.Head(ctx, p.s.SID, p.s.Head)
	if err == nil {
		p.head, p.histories, p.s.Head = t, nil, known
	}
	return err
}

// readHistories reads the histories that the head names.
func (p *pruner) readHistories(ctx context.Context) (err error) {
	p.histories, err = p.s.Reader.Histories(ctx, p.head, p.s.Head.Version)
	return err
}

// outdated reports whether a round met damage, and the head is not any more the one that
// it followed: what that one led to may have been removed since.
func (p *pruner) outdated(ctx context.Context, err error) bool {
	if !errors.Is(err, remoteread.ErrDamaged) || p.head == nil {
		return false
	}
	doc, err := p.s.Reader.Get(ctx, p.pk(), segment.HeadID(p.s.SID), p.s.Head.Version)
	return err == nil && doc != nil
}

// pk returns the partition of the session's head.
func (p *pruner) pk() string { return segment.SessionPK(p.s.SID) }
