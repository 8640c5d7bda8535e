package syncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

func (s *work) verifyAll(ctx context.Context, r *Report, mend bool) error {
	if err := s.cloud.verifyStream(ctx, segment.Transcript, s.cloud.head.Transcript, r); err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(s.cloud.head.Logs)) {
		if err := s.cloud.verifyStream(ctx, st, s.cloud.head.Logs[st], r); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.cloud.head.Files)) {
		if _, err := s.cloud.link.File(ctx, s.sid, s.cloud.head.Files[name]); err != nil {
			if !errors.Is(err, remoteread.ErrDamaged) {
				return err
			}
			r.Problems = append(r.Problems, Problem{File: name, Err: err})
		}
	}
	if !mend || len(r.Problems) == 0 {
		return nil
	}
	if err := s.mendAll(ctx, r); err != nil {
		return fmt.Errorf("store again: %w", err)
	}
	return nil
}

// verifyStream reads a stream from its beginning, and continues behind lines that it
// cannot read.
func (c *cloud) verifyStream(ctx context.Context, st segment.Stream, extent head.Extent, r *Report) error {
	infos, err := c.link.Segments(ctx, c.head, st, 0)
	if err != nil {
		return err
	}
	for _, run := range runs(st, infos, segment.Origin(st), extent.Point()) {
		if run.missing {
			r.Problems = append(r.Problems, Problem{
				Stream: string(st), From: run.from.N, To: run.to.N, start: run.from, end: run.to,
				Err: fmt.Errorf("%w: no segment", remoteread.ErrDamaged),
			})
			continue
		}
		if err := c.verifyRun(ctx, st, infos, run, r); err != nil {
			return err
		}
	}
	return nil
}

// run is a part of a stream that segments cover without a gap, or that no segment covers.
type run struct {
	from, to segment.Point
	missing  bool
	spans    []segment.Span
}

// runs takes a stream apart at its gaps, from origin on, in ascending order.
func runs(st segment.Stream, infos []segment.Info, origin, end segment.Point) (all []run) {
	for at := end; at.N > origin.N; {
		low, spans := lowest(st, infos, origin, at)
		if len(spans) > 0 {
			all = append(all, run{from: low, to: at, spans: spans})
			at = low
			continue
		}
		below := origin
		for _, in := range infos {
			if in.Stream == st && in.To.N < at.N && in.To.N > below.N {
				below = in.To
			}
		}
		all = append(all, run{from: below, to: at, missing: true})
		at = below
	}
	slices.Reverse(all)
	return all
}

// lowest walks back from a point as far as segments reach without a gap.
func lowest(st segment.Stream, infos []segment.Info, origin, end segment.Point) (low segment.Point, spans []segment.Span) {
	low = end
	if whole, err := segment.Tile(st, infos, origin, end); err == nil {
		return origin, whole
	}
	for _, in := range infos {
		if in.From.N >= low.N {
			continue
		}
		if got, err := segment.Tile(st, infos, in.From, end); err == nil && len(got) > 0 {
			low, spans = in.From, got
		}
	}
	return low, spans
}

func (c *cloud) verifyRun(ctx context.Context, st segment.Stream, infos []segment.Info, run run, r *Report) error {
	for at := run.from; at != run.to; {
		n, err := c.readRun(ctx, st, infos, at, run.to, r)
		if err == nil {
			r.Documents += n
			return nil
		}
		d := (*segment.DamageError)(nil)
		if !errors.As(err, &d) {
			return err
		}
		next := run.to
		for _, s := range slices.Backward(run.spans) {
			if s.From.N >= d.To {
				next = s.From
			}
			if s.From.N <= d.From && s.Upto.N > d.From {
				at = s.From
			}
		}
		r.Problems = append(r.Problems, Problem{
			Stream: string(st), From: at.N, To: next.N, Document: d.ID, start: at, end: next, listed: infos,
			Err: fmt.Errorf("%w: %w", remoteread.ErrDamaged, err),
		})
		at = next
	}
	return nil
}

// readRun reads lines and counts them, with the segments that hold them.
func (c *cloud) readRun(ctx context.Context, st segment.Stream, infos []segment.Info, from, to segment.Point, r *Report) (int, error) {
	for line, err := range c.link.Lines(ctx, st, infos, from, to, nil) {
		if err != nil {
			return 0, err
		}
		r.Lines++
		r.Bytes += int64(len(line)) + 1
	}
	spans, err := segment.Tile(st, infos, from, to)
	return len(spans), err
}

// mendMet stores again the parts that are damaged in the cloud and whole here, once,
// after damage made a sync fail. It reports whether it stored anything.
func (v *work) mendMet(ctx context.Context) (bool, error) {
	if v.mended || v.barred != nil || v.fetches || !v.local.present || v.cloud.head == nil || v.cloud.head.Deleted {
		return false, nil
	}
	r := Report{}
	err := v.verifyAll(ctx, &r, true)
	v.mended = !errors.Is(err, errLost)
	if r.Mended > 0 {
		v.Log.Warn("damage in the remote mended", "session", v.id)
	}
	return r.Mended > 0, err
}

// Check reads everything that the cloud has of a session, and checks every hash. With
// mend it stores missing or damaged parts again, if this device has them and the rules
// let it.
func (e *Syncer) Check(ctx context.Context, id string, mend bool) (r Report, err error) {
	err = e.again(ctx, func() error {
		r, err = e.check(ctx, id, mend)
		return err
	})
	return r, err
}

func (e *Syncer) check(ctx context.Context, id string, mend bool) (r Report, err error) {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return r, err
	}
	defer leave()
	if v.cloud.head.Deleted {
		return r, ErrRemoved
	}
	if mend {
		if err := v.mayStore(ctx); err != nil {
			return r, err
		}
	}
	err = v.verifyAll(ctx, &r, mend)
	if len(v.cloud.left.ids) == 0 && (err != nil || len(r.Problems) == 0) {
		return r, err
	}
	if now := v.readHead(ctx); now != nil {
		return r, errors.Join(err, now)
	}
	if v.cloud.head != nil && v.cloud.head.Deleted { // since the first read
		err = ErrRemoved
	}
	return r, err
}

// examine enters a session that the cloud has, scans it and reads its head.
func (e *Syncer) examine(ctx context.Context, id string) (*work, func(), error) {
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	v := e.work(id, Options{Mode: Asked, Named: true})
	v.verdict = e.Privacy.Judge(ctx, id)
	err = v.local.scan(ctx)
	if err == nil {
		err = v.readHead(ctx)
	}
	if err == nil && v.cloud.head == nil {
		err = gc.ErrAbsent
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return v, leave, nil
}

// mayStore returns an error when the session must not be changed in the cloud, by the
// rules of the directory or the rules of its lines there.
func (v *work) mayStore(ctx context.Context) (err error) {
	if v.verdict, err = v.cloud.permit(ctx); err != nil {
		return err
	}
	if v.verdict.Kept {
		return privacy.ErrLocal
	}
	return errors.Join(v.Privacy.RedactionHolds(), v.cloud.rulesHold())
}

// Comparison is the state of a session by its files and the known state of the cloud.
type Comparison struct {
	Local, Remote int64 // messages
	InStep        bool  // both sides have the same
	Deleted       bool  // it was deleted in the cloud
	Here, There   bool  // what changed since both sides had the same, where that is known
	Why           error // the reason why a sync leaves the files here as they are; nil: there is none
	Failed        error // why the last sync failed, where the next one will, too
}

// Inspect compares a session that is here with the cloud. It makes no request and changes
// nothing. Why is for a sync of the mode.
func (e *Syncer) Inspect(ctx context.Context, id string, mode Mode) (Comparison, error) {
	l := e.local(id, Options{Mode: mode})
	if err := l.peek(ctx); err != nil {
		return Comparison{}, err
	}
	s := Comparison{Local: l.main.End().N, InStep: l.settled(), Why: l.busy(), Failed: failure(l.st.Failed)}
	if t := l.st.Head.Head(l.sid); t != nil {
		s.Remote, s.Deleted = t.Transcript.N, t.Deleted
		if l.present && l.st.Base != nil && !t.Deleted {
			s.Here, s.There = l.changes(t)
		}
	}
	return s, nil
}

// changes reports what changed since both sides had the same: the files here, and the head t.
func (l *local) changes(t *head.Head) (here, there bool) {
	here, there = l.main.Point() != *l.st.Base, t.Transcript.Point() != *l.st.Base
	for _, log := range l.logs {
		here = here || log.There && log.End().N > 0 && log.own.Base != log.Point()
	}
	for _, f := range l.files {
		var both segment.Hash
		if known := l.st.Files[f.name]; known != nil {
			both = known.Sum
		}
		theirs, listed := t.Files[f.name]
		here, there = here || f.there && f.sum != both, there || listed && theirs.Sum != both
	}
	return here, there
}

// SentBefore reports whether the cloud has a session that a rule keeps here, and how many
// messages it has there, as far as that is known. It makes no request.
func (e *Syncer) SentBefore(id string) (messages int64, sent bool) {
	return e.session(id, Options{}).remoteHas()
}

func (s *session) remoteHas() (messages int64, sent bool) {
	t := s.st.Head.Head(s.sid)
	if entry, ok := s.Table.Entry(s.sid); ok && (t == nil || t.Revision < entry.Revision) {
		return entry.N, !entry.Deleted
	}
	if t == nil || t.Deleted {
		return 0, false
	}
	return t.Transcript.N, true
}

// Log is a log of a session on this machine.
type Log struct {
	Name   string // of the file in the session's directory
	Device string // that wrote it; "" for that file itself
	File   string // beside the states; "" for that file itself
}

// Logs returns the logs of a session that are here. It makes no request.
func (e *Syncer) Logs(ctx context.Context, id string) (all []Log, err error) {
	l := e.local(id, Options{})
	if err := l.peek(ctx); err != nil {
		return nil, err
	}
	for _, log := range l.logs {
		all = append(all, Log{Name: log.Name})
	}
	for st := range l.st.Cached {
		for _, log := range logNames {
			if log.kind == st.Kind() {
				all = append(all, Log{Name: log.name, Device: st.Device(), File: replica.LogFile(l.sid, st)})
			}
		}
	}
	return all, nil
}

// mendAll stores again the lines and files that a report has problems with, as far as
// this device has them, and condemns the segments that the new ones replace.
func (v *work) mendAll(ctx context.Context, r *Report) error {
	if len(v.cloud.head.Gone) > 0 { // so that repeated kills while mending leave only one list
		return errors.Join(gc.Finish(ctx, v.cloud.gc()), errLost)
	}
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	g := head.Gone{ID: segment.GoneID(v.sid, v.Random.Name(8))}
	mended := 0
	for i := range r.Problems {
		of := &r.Problems[i]
		ok, names, err := v.mend(ctx, of, p)
		if err != nil {
			return err
		}
		if of.Mended = ok; ok {
			mended++
		}
		g.Names = append(g.Names, names...)
	}
	if mended == 0 {
		return nil
	}
	if len(g.Names) > 0 {
		doc, err := g.Encode(v.sid)
		if err != nil {
			return err
		}
		p.next.Gone = append(p.next.Gone, g.ID)
		if err := p.uploads.add(ctx, doc); err != nil {
			return err
		}
	}
	if err := v.commit(ctx, p); err != nil {
		return err
	}
	r.Mended = mended
	if len(g.Names) == 0 {
		return nil
	}
	return gc.Finish(ctx, v.cloud.gc())
}

// mend stores the lines or the file of a problem again, if this device has them. It
// reports whether it did, and returns the ids of the segments that have no other lines.
func (v *work) mend(ctx context.Context, of *Problem, p *draft) (ok bool, names []string, err error) {
	if of.File != "" {
		ok, err = v.mendFile(ctx, of.File, p)
		return ok, nil, err
	}
	h := v.local.holder(segment.Stream(of.Stream))
	if h == nil {
		return false, nil, nil
	}
	from, ok, err := h.Mark(ctx, of.From)
	if err != nil || !ok || of.start.N > 0 && from.Hash != of.start.Hash {
		return false, nil, err
	}
	if has, err := h.Has(ctx, of.end); err != nil || !has {
		return false, nil, err
	}
	o := v.cloud.cut(0)
	if of.Document != "" { // as large as the segment that it replaces, so that it is read first
		o.Target = cmp.Or(o.Cap, segment.Capacity)
	}
	c := segment.NewCutter(o, segment.From{Stream: h.Stream, Mark: from})
	if err := p.uploads.take(ctx, c.Documents(track.First(of.To-of.From, h.Lines(ctx, from)))); err != nil {
		return false, nil, err
	}
	if c.At().Mark.Point() != of.end {
		return false, nil, track.ErrMoved
	}
	names, err = within(ctx, h, of)
	return true, names, err
}

// within returns the ids of the listed segments that only have lines of a problem, and
// are on the history of this device.
func within(ctx context.Context, h *track.Chain, of *Problem) (names []string, err error) {
	for _, in := range of.listed {
		if in.From.N < of.From || in.To.N > of.To {
			continue
		}
		begins, err := h.Has(ctx, in.From)
		if err != nil {
			return nil, err
		}
		if ends, err := h.Has(ctx, in.To); err != nil {
			return nil, err
		} else if begins && ends {
			names = append(names, in.ID)
		}
	}
	return names, nil
}

// holder returns the file here with the lines of a stream.
func (l *local) holder(st segment.Stream) *track.Chain {
	if st == segment.Transcript && l.present {
		return l.main
	}
	for _, log := range l.logs {
		if log.Stream == st {
			return log.Chain
		}
	}
	return nil
}

func (v *work) mendFile(ctx context.Context, name string, p *draft) (bool, error) {
	for _, f := range v.local.files {
		was := v.cloud.head.Files[name]
		if f.name != name || !f.there || f.sum != was.Sum {
			continue
		}
		if err := v.local.load(ctx, f); err != nil {
			return false, err
		}
		blob, docs := segment.Pack(v.sid, f.content, v.Random.Name(8))
		was.Blob = blob
		p.next.Files[name] = was
		return true, p.uploads.take(ctx, docs)
	}
	return false, nil
}
