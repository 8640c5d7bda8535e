package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

// library is the name of this library in documents.
const library = "sessionstorage-go/1"

// nextHead returns the head that will follow the present one.
func (v *work) nextHead() *head.Head {
	next := &head.Head{SID: v.sid, User: v.Identity.User, Session: v.id, Project: v.Identity.Project, Born: v.Random.Name(8)}
	if v.cloud.head != nil {
		next = v.cloud.head.Clone()
	} else if dead := v.cloud.dead; dead != nil {
		next.Revision, next.Anew = dead.Revision, v.anewAfter(dead)
	}
	if next.Logs == nil {
		next.Logs = map[segment.Stream]head.Extent{}
	}
	next.Revision++
	next.Op = v.Device.ID + "-" + v.Random.Name(6)
	next.Writer = head.Writer{Device: v.Device.ID, Host: v.Device.Host, Library: library}
	if v.local.changed.After(next.Updated) {
		next.Updated = v.local.changed
	}
	return next
}

// anewAfter returns the Anew of a head that replaces a tombstone.
func (v *work) anewAfter(dead *head.Head) (a head.Anew) {
	if a = dead.Anew; a.Rules != "" {
		a.Rules = v.redaction()
	}
	a.Was, a.Now = segment.Point{}, segment.Point{}
	if was := v.undo; was != nil && was.Base != nil && v.st.Base != nil && *was.Base == dead.Transcript.Point() {
		a.Was, a.Now = *was.Base, *v.st.Base
	}
	return a
}

// tombstone returns the tombstone that will follow the present head.
func (v *work) tombstone() *head.Head {
	next := v.nextHead().Tombstone()
	next.Revision = v.cloud.head.Revision + 1
	return next
}

// serverTime is the time by this machine's clock, unless that differs from the
// server's.
func (c *cloud) serverTime() time.Time {
	here, there := c.Core.Now().UTC(), c.link.Time()
	if there.IsZero() || here.Sub(there).Abs() < time.Minute {
		return here
	}
	return there
}

// draft is a head in the making, with the documents that it needs.
type draft struct {
	next    *head.Head
	rules   []head.Rules // of the lines before the stored ones
	uploads *uploader
	changed bool
	common  int64         // number of lines that this device shares with the cloud, when it stores a branch
	copy    *conflictCopy // the session that keeps the branch here; nil for none
}

// buildFrom stores the lines behind record n and moves the head to their end.
func (v *work) buildFrom(ctx context.Context, n int64, p *draft) error {
	if err := v.storeFrom(ctx, n, p.uploads); err != nil {
		return err
	}
	p.next.Transcript = head.ExtentOf(v.local.main.End()).Ruled(p.rules, n, v.redaction())
	p.next.Redaction = v.redaction()
	p.changed = true
	return nil
}

func (v *work) storeFrom(ctx context.Context, n int64, uploads *uploader) error {
	from, ok, err := v.local.main.Mark(ctx, n)
	if err != nil || !ok {
		return fmt.Errorf("%w: %s", track.ErrMoved, v.local.main.Name)
	}
	c := segment.NewCutter(v.cloud.cut(v.local.main.End().Bytes-from.Bytes), segment.From{Stream: segment.Transcript, Mark: from})
	if err := uploads.take(ctx, c.Documents(v.local.main.Lines(ctx, from))); err != nil {
		return err
	}
	if at := c.At().Mark; at.Point() != v.local.main.Point() {
		return track.ErrMoved
	}
	return nil
}

// conflictCopy is the session that keeps this device's line after a divergence.
type conflictCopy struct {
	id  string
	was *track.Chain // its transcript, which is the beginning of the line; nil: the session is not made yet
}

// commit makes the draft's head the session's head.
func (v *work) commit(ctx context.Context, p *draft) error {
	doc, err := p.next.Encode()
	if err != nil {
		return err
	}
	if !p.next.Deleted && v.Privacy.Judge(ctx, v.id).Kept {
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
