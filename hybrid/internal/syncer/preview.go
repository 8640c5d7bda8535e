package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Preview returns the head of a session, and a block for each message of its transcript. It
// reads no lines. With an error that Is [remoteread.ErrDamaged] it returns what could be read.
func (e *Syncer) Preview(ctx context.Context, id string) (t *head.Head, blocks []segment.Block, err error) {
	if err := e.identityOf(id).Check(); err != nil {
		return nil, nil, err
	}
	c := e.session(id, Options{Mode: Asked, Named: true}).cloud()
	err = patient(ctx, func() error {
		t, blocks, err = c.preview(ctx)
		return err
	})
	return t, blocks, err
}

func (c *cloud) preview(ctx context.Context) (t *head.Head, blocks []segment.Block, err error) {
	t, _, err = c.link.Head(ctx, c.sid, remoteread.Known{}) // the session token keeps it from being an older one
	switch {
	case err != nil:
		return nil, nil, err
	case t == nil:
		return nil, nil, gc.ErrAbsent
	case t.Deleted:
		return nil, nil, ErrRemoved
	}
	for b, err := range c.link.Blocks(ctx, t) {
		if err != nil {
			return t, blocks, err
		}
		blocks = append(blocks, b)
	}
	return t, blocks, nil
}
