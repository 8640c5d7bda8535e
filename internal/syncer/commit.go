package syncer

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/remoteread"
)

// commit makes the draft's head the session's.
func (v *work) commit(ctx context.Context, p *draft) error {
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
	if v.cloud.head == nil && v.cloud.version == "" {
		if err := v.cloud.writeEntry(ctx, p.next); err != nil {
			return err
		}
		p.uploads.first.announce = nil
	}
	v.cloud.sent = append(v.cloud.sent, p.next.Op, p.next.Born)
	version, err := p.uploads.commit(ctx, doc, v.cloud.version)
	if err != nil {
		return err
	}
	v.out.Pushed = true
	v.cloud.left.clear()
	v.out.Segments += p.uploads.segments
	v.cloud.head, v.cloud.version = p.next, version
	v.st.Born, v.st.Head = p.next.Born, remoteread.Known{Version: version, Doc: doc.Body}
	for _, f := range v.local.files {
		if f.gave {
			v.know(f, f.content, f.sum)
		}
	}
	return nil
}
