package syncer

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
)

// commit makes the draft's head the session's.
func (v *push) commit(ctx context.Context, p *draft) error {
	doc, err := p.next.Encode()
	if err != nil {
		return err
	}
	if !p.next.Deleted && v.judgeNow(ctx, v.id).kept {
		return fmt.Errorf("%w: a rule keeps it on this machine since", ErrDeferred)
	}
	if err := v.local.syncFiles(ctx); err != nil {
		return err
	}
	if v.cloud.head == nil && v.cloud.etag == "" {
		if err := v.cloud.writeEntry(ctx, p.next); err != nil {
			return err
		}
		p.uploads.first.announce = nil
	}
	v.cloud.sent = append(v.cloud.sent, p.next.Op, p.next.Born)
	etag, a := p.uploads.commit(ctx, doc.ID, doc.Body, v.cloud.etag)
	switch a.Class {
	case cosmos.OK:
	case cosmos.Missing, cosmos.Exists, cosmos.Changed:
		return errLost
	case cosmos.Unknown: // reading the head will tell whether it was changed
		return fmt.Errorf("%w: %w", errLost, a.Err)
	case cosmos.TooLarge:
		return errTooBig
	default:
		return a.Err
	}
	v.out.Pushed = true
	v.cloud.left.clear()
	v.out.Segments += p.uploads.segments
	v.cloud.head, v.cloud.etag = p.next, etag
	v.st.Born, v.st.Head = p.next.Born, remoteread.Known{ETag: etag, Token: v.cloud.link.Token(), Doc: doc.Body}
	for _, f := range v.local.files {
		if f.gave {
			v.know(f, f.content, f.sum)
		}
	}
	return nil
}
