package syncer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/core"
)

// build stores the lines that the action sends, and the new lines of logs and the changed
// files.
func (v *work) build(ctx context.Context, a syncplan.Action) (*draft, error) {
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	if v.cloud.head != nil {
		p.rules = v.cloud.head.RulesOf(segment.Transcript)
	} else {
		p.uploads.first = &firstUpload{began: v.began}
		if v.cloud.version == "" {
			p.uploads.first.announce = func(ctx context.Context) error { return v.cloud.writeEntry(ctx, p.next) }
		}
	}
	if err := v.buildMain(ctx, a, p); err != nil {
		return nil, err
	}
	if !v.local.present {
		return p, nil
	}
	logs := false
	if !v.fetches {
		var err error
		if logs, err = v.pushLogs(ctx, p); err != nil {
			return nil, err
		}
		kept, err := v.pushKept(ctx, p.next, p.uploads)
		if err != nil {
			return nil, err
		}
		logs = logs || kept
	}
	files, err := v.pushFiles(ctx, p.next, p.uploads, !v.fetches)
	if !p.changed && !files && v.cloud.head != nil {
		p.next.Updated = v.cloud.head.Updated // logs alone move no session in lists
	}
	p.changed = p.changed || logs || files
	return p, err
}

func (v *work) buildMain(ctx context.Context, a syncplan.Action, p *draft) error {
	if v.fetches && (a.Kind == syncplan.Create || a.Kind == syncplan.Push || a.Kind == syncplan.Rewrite) {
		return nil
	}
	switch a.Kind {
	case syncplan.Create:
		return v.buildNew(ctx, p)
	case syncplan.Push:
		return v.buildFrom(ctx, v.cloud.head.Transcript.N, p)
	case syncplan.Rewrite:
		return v.buildRewrite(ctx, a, p)
	case syncplan.Diverge, syncplan.Record:
		return v.buildBranch(ctx, a, p)
	}
	return nil
}

// buildNew stores the transcript of a session that the cloud does not have.
func (v *work) buildNew(ctx context.Context, p *draft) error {
	if md, err := v.Store.Metadata(ctx, v.id); err == nil && !v.verdict.Secret {
		if parent := md.Text("parent_id"); core.CheckID(parent) == nil { // else no session can be its parent, and its length knows no bound
			p.next.Parent = parent
		}
	}
	p.changed = true
	return v.buildFrom(ctx, 0, p)
}

// pushLogs stores the new lines of this device's logs, and reports whether there were
// any.
func (v *work) pushLogs(ctx context.Context, p *draft) (changed bool, err error) {
	for _, l := range v.local.logs {
		if v.keptLog(l.Stream) { // the cloud had more of it than the file here has
			continue
		}
		if err := v.resume(ctx, l, p.next); err != nil {
			return changed, err
		}
		extent := p.next.Logs[l.Stream]
		what, err := syncplan.PlanLog(l.Point(), func(p segment.Point) (bool, error) { return l.Has(ctx, p) }, extent.Point(), l.own.Base)
		from := extent.N
		switch {
		case err != nil || what == syncplan.LogIdle:
		case what == syncplan.LogRewind:
			from, err = v.leaveLog(ctx, l, extent, p)
		case what == syncplan.LogAnew:
			for from = 0; err == nil && p.next.Logs[l.Stream].N > 0; {
				l.Chain, err = v.local.anew(ctx, l.kind, l.Name, l.own, l.own.Generation+1)
			}
		}
		if err != nil {
			return changed, err
		}
		if what == syncplan.LogIdle || l.End().N == 0 {
			continue
		}
		if err := v.pushLog(ctx, l, from, p.next, p.uploads); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// leaveLog makes a history of a log that was cut or replaced here, and returns the number
// of its first lines that are here.
func (v *work) leaveLog(ctx context.Context, l *ownLog, was head.Extent, p *draft) (common int64, err error) {
	infos, err := v.cloud.link.Segments(ctx, v.cloud.head, l.Stream, 0)
	if err != nil {
		return 0, err
	}
	if common, err = shared(ctx, l.Chain, infos, was.Point()); err != nil && !errors.Is(err, remoteread.ErrDamaged) {
		return 0, err
	}
	return common, v.leaveHistory(ctx, p, head.History{Stream: l.Stream, Extent: was, Common: common, Why: head.WhyRewrite, Device: v.Device.ID})
}

// resume finds the generation of a log whose state was lost: the latest that the cloud
// has of this device. Only the state says that the log begins with another device's
// lines; without it they are sent once more.
func (v *work) resume(ctx context.Context, l *ownLog, next *head.Head) (err error) {
	if _, known := next.Logs[l.Stream]; known || l.own.Generation > 1 || l.own.Inherited > 0 {
		return nil
	}
	latest := 0
	for st := range next.Logs {
		if st.Kind() == l.kind && st.Device() == v.Device.ID {
			latest = max(latest, st.Generation())
		}
	}
	if latest < 2 {
		return nil
	}
	*l.own = replica.OwnLog{Generation: latest}
	if l.Chain, err = v.local.logSource(l.kind, l.Name, l.own).Scan(ctx, nil, true); err == nil {
		l.own.File = &l.Followed
	}
	return err
}

// pushLog stores the lines behind the first n, which are stored already.
func (v *work) pushLog(ctx context.Context, l *ownLog, n int64, next *head.Head, uploads *uploader) error {
	from, ok, err := l.Mark(ctx, n)
	if err != nil || !ok {
		return fmt.Errorf("%w: %s", track.ErrMoved, l.Name)
	}
	large, err := l.largeLine(ctx, from.N)
	if err != nil {
		return err
	}
	c := segment.NewCutter(v.cloud.cut(l.End().Bytes-from.Bytes), segment.From{Stream: l.Stream, Mark: from, Large: large})
	if err := uploads.take(ctx, c.Documents(l.Lines(ctx, from))); err != nil {
		return err
	}
	at := c.At()
	if at.Mark.Point() != l.Point() {
		return track.ErrMoved
	}
	l.own.Large = nil
	if at.Large != nil {
		l.own.Large = &segment.Large{N: at.Large.N, Since: at.Large.Since, Wasted: at.Large.Wasted}
	}
	next.Logs[l.Stream] = head.ExtentOf(l.End()).Ruled(next.RulesOf(l.Stream), n, v.redaction())
	return nil
}

// uploader takes the documents of one session until its head can be changed. A few of
// them go together with the head, in one request; more are uploaded as they arrive.
type uploader struct {
	link     *remoteread.Reader
	pk       string // of the head
	waiting  []segment.Document
	bytes    int
	sent     bool     // some went without the head
	remove   []string // ids of those that are removed with the head
	segments int
	first    *firstUpload
	left     *leftovers // the ids of sent documents are noted there
}

// uploader returns an uploader for the documents of the session.
func (c *cloud) uploader() *uploader { return &uploader{link: c.link, pk: c.pk, left: &c.left} }

// firstUpload is the additional state of the upload of a session that has no head yet:
// nothing guards its documents.
type firstUpload struct {
	announce func(context.Context) error // called before the first upload, so that pruning finds an abandoned one; nil: it was called
	began    time.Time                   // by the clock on the wall, which goes on while a machine sleeps
}

// stale reports whether the upload took so long that pruning may have removed its
// documents.
func (f *firstUpload) stale() bool {
	return f != nil && time.Now().Round(0).Sub(f.began) > gc.MaxFirstUpload
}

const (
	inFlight = 4 << 20 // bytes that wait, until all of them are sent
	maxSwaps = 3       // of one head, while each may have been done and was not
)

// take takes documents, and uploads them when they are too many for one request.
func (o *uploader) take(ctx context.Context, docs iter.Seq2[segment.Document, error]) error {
	for d, err := range docs {
		if err != nil {
			return err
		}
		if err := o.add(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (o *uploader) add(ctx context.Context, d segment.Document) error {
	if d.Type == segment.TypeSegment {
		o.segments++
	}
	if slices.ContainsFunc(o.waiting, d.Same) { // a piece of a line that repeats itself
		return nil
	}
	o.waiting = append(o.waiting, d)
	o.bytes += d.Size()
	if o.bytes < inFlight {
		return nil
	}
	return o.upload(ctx)
}

// upload stores the waiting documents.
func (o *uploader) upload(ctx context.Context) error {
	if !o.sent && o.first != nil && o.first.announce != nil {
		if err := o.first.announce(ctx); err != nil {
			return err
		}
	}
	docs := o.waiting
	o.waiting, o.bytes, o.sent = nil, 0, true
	for _, d := range docs {
		o.left.note(d.ID)
	}
	return tooBig(o.link.Store(ctx, o.pk, docs))
}

func tooBig(err error) error {
	if errors.Is(err, remote.ErrTooLarge) {
		return fmt.Errorf("%w: %w", errTooBig, err)
	}
	return err
}

// commit makes the head visible after all documents that it leads to are stored. Where it is
// open whether the swap was made, and the head is still the last one, it is made again. The
// error Is [errLost] when another device was first, or may have been.
func (o *uploader) commit(ctx context.Context, doc segment.Document, last remote.Version) (remote.Version, error) {
	swap := remoteread.Swap(doc, last)
	swap.Remove = o.remove
	whole := len(o.waiting) > 0 && !o.sent && o.link.Fits(ctx, o.waiting, swap)
	for try := 1; ; try++ {
		if !whole && len(o.waiting) > 0 {
			if err := o.upload(ctx); err != nil {
				return "", err
			}
		}
		if o.first.stale() {
			return "", fmt.Errorf("%w: %w", errLost, errStale)
		}
		v, err := o.link.Commit(ctx, o.pk, o.waiting, swap)
		switch {
		case whole && errors.Is(err, remote.ErrTooLarge):
			whole = false
			continue
		case !errors.Is(err, remote.ErrUnknown) || try == maxSwaps:
			return v, tooBig(remoteread.Lost(err))
		}
		switch there, still := o.link.Get(ctx, o.pk, doc.ID, last); {
		case errors.Is(still, remote.ErrUnchanged), still == nil && there == nil && last == "":
		case still == nil:
			return "", remoteread.Lost(err)
		default:
			return "", still
		}
	}
}
