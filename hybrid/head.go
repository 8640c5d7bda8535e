package hybrid

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// readTip reads the tip, which costs one point read when it did not change.
func (v *visit) readTip(ctx context.Context) error {
	etag := v.st.Head.ETag
	if len(v.st.Head.Doc) == 0 {
		etag = ""
	}
	doc, err := v.link.read(ctx, v.pk, segment.HeadID(v.sid), etag)
	if err != nil {
		return fmt.Errorf("read tip: %w", err)
	}
	if doc == nil {
		return v.vanished()
	}
	body := doc.body
	if doc.same {
		body = v.st.Head.Doc
	}
	t, err := tip.Decode(body, v.sid)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	if v.st.Born != t.Born {
		v.st.estrange(t.Born)
	}
	if t.Revision < v.st.revision(v.sid) {
		return fmt.Errorf("%w: a replica is behind", errLost)
	}
	if t.Op == v.op {
		v.out.pushed = true // by a request of which the answer was lost
	}
	v.tip, v.etag = t, doc.etag
	if !doc.same {
		v.st.Head = v.head(doc.etag, body)
	}
	return nil
}

// head is the tip as it was just read or written.
func (v *visit) head(etag azcore.ETag, body []byte) knownHead {
	return knownHead{ETag: etag, Token: text(v.link.session()), Doc: body}
}

// revision returns that of the tip that is known, 0 for none.
func (s *state) revision(sid string) int64 {
	if len(s.Head.Doc) == 0 {
		return 0
	}
	t, err := tip.Decode(s.Head.Doc, sid)
	if err != nil {
		return 0
	}
	return t.Revision
}

// vanished deals with a tip that is not there. One that was a tombstone was
// removed in time; else it is another container, or an empty one.
func (v *visit) vanished() error {
	if v.st.Born != "" && len(v.st.Head.Doc) > 0 {
		if last, err := tip.Decode(v.st.Head.Doc, v.sid); err == nil && last.Deleted {
			v.tip, v.etag = last, ""
			return nil
		}
	}
	v.st.estrange("")
	v.tip, v.etag = nil, ""
	return nil
}

// estrange forgets what was in step with another tip.
func (s *state) estrange(born string) {
	s.Born, s.Base, s.Files, s.Logs, s.Held, s.Head, s.Cat = born, nil, nil, nil, nil, knownHead{}, knownCat{}
}

// remoteHas reports whether p is on the history that ends at to.
func (v *visit) remoteHas(ctx context.Context, p, to segment.Point) (bool, error) {
	infos, err := v.listed(ctx)
	if err != nil {
		return false, err
	}
	_, err = segment.Tile(segment.Transcript, infos, p, to)
	if errors.Is(err, segment.ErrOffside) {
		return false, nil
	}
	return err == nil, damaged(err)
}

// replaced reports whether a point was on a former tip.
func (v *visit) replaced(ctx context.Context) syncplan.Has {
	if len(v.tip.Old) == 0 || v.tip.Deleted {
		return nil
	}
	return func(p segment.Point) (bool, error) {
		former, err := v.formerTips(ctx)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return false, err
		}
		for _, o := range former {
			if o.N < p.N {
				continue
			}
			if on, err := v.remoteHas(ctx, p, o.Point); on || err != nil && !errors.Is(err, ErrDamaged) {
				return on, err
			}
		}
		return false, nil
	}
}

// listed returns all segments of the transcript, on whatever history.
func (v *visit) listed(ctx context.Context) ([]segment.Info, error) {
	if v.infos != nil {
		return v.infos, nil
	}
	infos, err := v.link.segments(ctx, v.tip, segment.Transcript, v.tip.Transcript.Buckets, 0)
	if err == nil {
		v.infos = append([]segment.Info{}, infos...)
	}
	return infos, err
}
