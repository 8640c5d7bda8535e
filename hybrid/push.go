package hybrid

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// library is how this library calls itself in documents.
const library = "sessionstorage-go/1"

// draft returns the tip that will follow the one that is there.
func (v *visit) draft() *tip.Tip {
	next := &tip.Tip{SID: v.sid, User: v.opts.User, Session: v.id, Project: v.opts.Project, Born: v.chance.name(8)}
	if v.tip != nil {
		next = v.tip.Clone()
	}
	if next.Logs == nil {
		next.Logs = map[segment.Stream]tip.Reach{}
	}
	next.Revision++
	next.Op = v.dev.id + "-" + v.chance.name(6)
	next.Writer = tip.Writer{Device: v.dev.id, Host: v.dev.host, Library: library}
	if v.changed.After(next.Updated) {
		next.Updated = v.changed
	}
	return next
}

// serverTime is the time by this machine's clock, unless that differs from the
// server's.
func (v *visit) serverTime() time.Time {
	here, there := v.in.Now().UTC(), v.link.serverTime()
	if there.IsZero() || here.Sub(there).Abs() < time.Minute {
		return here
	}
	return there
}

// parcel is a tip in the making, with the documents that it needs.
type parcel struct {
	next    *tip.Tip
	box     *outbox
	changed bool
	branch  *tip.Branch // this device's line, when it becomes one
	fork    string      // the session that will keep it here
}

// pack stores what the action sends of the transcript, and what is new of logs
// and files.
func (v *visit) pack(ctx context.Context, a syncplan.Action) (*parcel, error) {
	p := &parcel{next: v.draft(), box: &outbox{link: v.link, pk: v.pk, count: v.estimate}}
	if v.tip == nil {
		p.box.first = &firstUpload{began: v.began, announce: func(ctx context.Context) error { return v.announce(ctx, p.next) }}
	}
	if err := v.packMain(ctx, a, p); err != nil {
		return nil, err
	}
	if !v.present {
		return p, nil
	}
	logs := false
	if !v.pull {
		var err error
		if logs, err = v.pushLogs(ctx, p.next, p.box); err != nil {
			return nil, err
		}
	}
	files, err := v.pushFiles(ctx, p.next, p.box, !v.pull)
	if !p.changed && !files && v.tip != nil {
		p.next.Updated = v.tip.Updated // logs alone move no session in lists
	}
	p.changed = p.changed || logs || files
	return p, err
}

func (v *visit) packMain(ctx context.Context, a syncplan.Action, p *parcel) error {
	if v.pull && (a.Kind == syncplan.Create || a.Kind == syncplan.Push || a.Kind == syncplan.Rewrite) {
		return nil
	}
	switch a.Kind {
	case syncplan.Create:
		return v.packNew(ctx, p)
	case syncplan.Push:
		return v.packFrom(ctx, v.tip.Transcript.N, p)
	case syncplan.Rewrite:
		return v.packRewrite(ctx, a, p)
	case syncplan.Diverge, syncplan.Record:
		return v.packBranch(ctx, a, p)
	}
	return nil
}

// packNew stores the transcript of a session that the cloud does not have; a
// fork begins with its parent's lines.
func (v *visit) packNew(ctx context.Context, p *parcel) error {
	o, parent, err := v.origin(ctx)
	if err != nil {
		return err
	}
	start := int64(0)
	if p.next.Parent = parent; o != nil {
		if err := v.bind(ctx, o); err != nil {
			return err
		}
		p.next.From, start = o.from, o.from.N
	}
	p.changed = true
	return v.packFrom(ctx, start, p)
}

// packFrom stores the lines behind record n and moves the tip to their end.
func (v *visit) packFrom(ctx context.Context, n int64, p *parcel) error {
	if err := v.storeFrom(ctx, n, p.box); err != nil {
		return err
	}
	p.next.Transcript = tip.ReachOf(v.main.end())
	p.next.Redaction = v.redaction()
	p.changed = true
	return nil
}

func (v *visit) storeFrom(ctx context.Context, n int64, box *outbox) error {
	from, ok, err := v.main.mark(ctx, n)
	if err != nil || !ok {
		return fmt.Errorf("%w: %s", errMoved, v.main.name)
	}
	c := segment.NewCutter(v.cut(v.main.end().Bytes-from.Bytes), segment.From{Stream: segment.Transcript, Mark: from})
	if err := box.take(ctx, c.Documents(v.main.lines(ctx, from))); err != nil {
		return err
	}
	if at := c.At().Mark; at.Point() != v.main.point() {
		return errMoved
	}
	return nil
}

// commit makes the parcel's tip the session's.
func (v *visit) commit(ctx context.Context, p *parcel) error {
	doc, err := p.next.Encode()
	if err != nil {
		return err
	}
	if v.rights.local(v.id) {
		return fmt.Errorf("%w: it became local only meanwhile", ErrDeferred)
	}
	if err := v.harden(ctx); err != nil {
		return err
	}
	if v.tip == nil {
		if err := v.announce(ctx, p.next); err != nil {
			return err
		}
		p.box.first.announce = nil
	}
	etag, verdict := p.box.commit(ctx, doc.ID, doc.Body, v.etag)
	switch verdict.class {
	case fine:
	case missing:
		if v.etag == "" {
			return noSuchContainer(verdict)
		}
		return errLost
	case exists, changed:
		return errLost
	case shaky: // reading the tip will tell whether it was changed
		return fmt.Errorf("%w: %w", errLost, verdict.err)
	case tooBig:
		return errTooBig
	default:
		return verdict.err
	}
	v.out.pushed = true
	v.out.segments += p.box.segments
	v.tip, v.etag = p.next, etag
	v.st.Born, v.st.Head = p.next.Born, v.head(etag, doc.Body)
	for _, f := range v.files {
		if f.gave {
			v.know(f, f.content, f.sum)
		}
	}
	return nil
}
