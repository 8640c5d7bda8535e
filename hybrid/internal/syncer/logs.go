package syncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// fetchLogs brings the logs of other devices in the bookkeeping up to date.
func (v *work) fetchLogs(ctx context.Context, except map[segment.Stream]bool) error {
	for _, st := range slices.Sorted(maps.Keys(v.cloud.head.Logs)) {
		r := v.cloud.head.Logs[st]
		if except[st] || v.local.isOwn(st) || v.cloud.isAdopted(st) {
			continue
		}
		if err := v.cloud.lack(logName(st), v.fetchLog(ctx, st, r)); err != nil {
			return err
		}
	}
	return nil
}

// isOwn reports whether a log here continues a stream.
func (l *local) isOwn(st segment.Stream) bool { return l.ownLog(st) != nil }

func (c *cloud) isAdopted(st segment.Stream) bool {
	own := c.st.Logs[st.Kind().String()]
	return own != nil && own.From == st && own.FromPoint == c.head.Logs[st].Point()
}

// chosenLogs are the logs that become the files of a restored session, by the names of
// these files.
type chosenLogs map[string]chosenLog

type chosenLog struct {
	kind   segment.Kind
	stream segment.Stream
	point  segment.Point
	size   int64
}

func (t chosenLogs) streams() map[segment.Stream]bool {
	all := map[segment.Stream]bool{}
	for _, l := range t {
		all[l.stream] = true
	}
	return all
}

// chooseLogs fetches the longest log of each kind; where that is damaged, the longest
// undamaged one.
func (v *work) chooseLogs(ctx context.Context) (chosenLogs, error) {
	taken := chosenLogs{}
	for _, l := range logNames {
		for _, st := range v.cloud.longest(l.kind) {
			r := v.cloud.head.Logs[st]
			err := v.fetchLog(ctx, st, r)
			if err == nil {
				taken[l.name] = chosenLog{kind: l.kind, stream: st, point: r.Point(), size: v.st.Cached[st].Size}
				break
			}
			if err := v.cloud.lack(l.name, err); err != nil {
				return nil, err
			}
		}
	}
	return taken, nil
}

// longest returns the logs of a kind that are not empty, the longest first.
func (c *cloud) longest(kind segment.Kind) (all []segment.Stream) {
	for st, r := range c.head.Logs {
		if st.Kind() == kind && r.N > 0 {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b segment.Stream) int {
		return cmp.Or(cmp.Compare(c.head.Logs[b].Bytes, c.head.Logs[a].Bytes), cmp.Compare(a, b))
	})
	return all
}

// adoptLogs records where the own logs of a restored session begin: behind the lines that
// came from another device; a log of this device continues its latest generation.
func (c *cloud) adoptLogs(taken chosenLogs) {
	c.st.Logs = nil
	for _, t := range taken {
		own := &replica.OwnLog{Generation: 1, Inherited: t.size, From: t.stream, FromPoint: t.point}
		for st := range c.head.Logs {
			if st.Kind() == t.kind && st.Device() == c.Device.ID {
				own.Generation = max(own.Generation, st.Generation()+1)
			}
		}
		if t.stream.Device() == c.Device.ID {
			own = &replica.OwnLog{Generation: t.stream.Generation()}
		}
		c.keepLog(t.kind, own)
	}
}

// fetchLog brings the file with another device's log up to date. It asks for the lines
// behind those that this device has, and appends them to the file. Where the lines here
// are not the lines of the cloud, it fetches the whole log.
func (v *work) fetchLog(ctx context.Context, st segment.Stream, r head.Extent) error {
	held, known := v.holds(st)
	if known && held.Point == r.Point() {
		return nil
	}
	err := errors.New("nothing is held")
	if held.Point.N > 0 {
		held, err = v.fetchEnd(ctx, st, r, held)
	}
	if err != nil && ctx.Err() == nil {
		held, err = v.cloud.fetchWhole(ctx, st, r)
	}
	if err != nil {
		return fmt.Errorf("fetch log %s: %w", st, err)
	}
	if v.st.Cached == nil {
		v.st.Cached = map[segment.Stream]replica.CachedLog{}
	}
	v.st.Cached[st] = held
	return nil
}

// holds returns how much of another device's log is here: in its file, or at the
// beginning of this device's own log.
func (v *work) holds(st segment.Stream) (at replica.CachedLog, known bool) {
	own := v.st.Logs[st.Kind().String()]
	adopted := v.local.present && own != nil && own.From == st
	at, known = v.st.Cached[st]
	switch {
	case known && (at.From == 0 || adopted && at.From == own.FromPoint.N):
		return at, true
	case adopted:
		return replica.CachedLog{From: own.FromPoint.N, Point: own.FromPoint}, false
	}
	return replica.CachedLog{Point: segment.Origin(st)}, false
}

// dropEnds forgets files that hold only the end of a log: the session that had the
// beginning is no longer here.
func (s *session) dropEnds() {
	for st, at := range s.st.Cached {
		if at.From > 0 {
			delete(s.st.Cached, st)
		}
	}
}

// fetchWhole fetches a log from its first line.
func (c *cloud) fetchWhole(ctx context.Context, st segment.Stream, r head.Extent) (held replica.CachedLog, err error) {
	held.Point = r.Point()
	held.Size, err = c.States.WriteLog(replica.LogFile(c.sid, st), 0, c.link.LogLines(ctx, c.head, st, r))
	return held, err
}

// fetchEnd fetches the lines of a log behind those that are here. A long line may be
// stored as the difference to a line that is here.
func (v *work) fetchEnd(ctx context.Context, st segment.Stream, r head.Extent, held replica.CachedLog) (replica.CachedLog, error) {
	infos, err := v.cloud.link.Segments(ctx, v.cloud.head, st, held.Point.N)
	if err != nil {
		return held, err
	}
	spans, err := segment.Tile(st, infos, held.Point, r.Point())
	if err != nil {
		return held, remoteread.Damaged(err)
	}
	var large *segment.Large
	if n, ok := segment.Needed(spans, held.Point.N); ok {
		large = &segment.Large{N: n}
		if large.Line, err = v.heldLine(ctx, st, held, n); err != nil {
			return held, err
		}
	}
	lines := v.cloud.link.Lines(ctx, st, infos, held.Point, r.Point(), large)
	held.Size, err = v.States.WriteLog(replica.LogFile(v.sid, st), held.Size, lines)
	held.Point = r.Point()
	return held, err
}

// heldLine returns a line of another device's log from the files here.
func (v *work) heldLine(ctx context.Context, st segment.Stream, held replica.CachedLog, n int64) (line []byte, err error) {
	if n >= held.From {
		f, err := v.States.Open(replica.LogFile(v.sid, st))
		if err != nil {
			return nil, err
		}
		line, err := jsonl.Last(f, held.Size, held.Point.N-n)
		return line, errors.Join(err, f.Close())
	}
	own := v.st.Logs[st.Kind().String()]
	err = v.Core.Read(ctx, v.id, func(dir *sessiondir.Dir) error {
		f, _, err := dir.Open(logName(st))
		if err != nil {
			return err
		}
		line, err = jsonl.Last(f, own.Inherited, held.From-n)
		return errors.Join(err, f.Close())
	})
	return line, err
}

// learnForms compares the lines here with the head's lines, and records the forms of
// lines that differ by redaction alone. It is for a state that was lost, or is older than
// the files.
//
// Two lines are the same line when today's rules give both the same form. That holds for
// all rules that find no less than the rules by which a line was sent, whatever they put
// in its place. Where today's rules find less, the built-in markers decide.
func (s *work) learnForms(ctx context.Context) error {
	sent, err := s.compare(ctx, s.cloud.head.Transcript.Point())
	if err != nil {
		return err
	}
	s.formsKnown = true
	return s.local.adopt(ctx, sent)
}

// learnLog does that for a log, which the cloud has up to the end of r.
func (s *work) learnLog(ctx context.Context, l *ownLog, r head.Extent) error {
	sent, err := l.Compare(ctx, s.cloud.link.LogLines(ctx, s.cloud.head, l.Stream, r))
	if err != nil {
		return err
	}
	return l.adopt(ctx, sent)
}

// compare follows the lines here, in the form in which they were sent, as far as they are
// the lines of a history of the cloud that ends at to. It fetches as many lines of it.
func (s *work) compare(ctx context.Context, to segment.Point) (*track.Compared, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return nil, err
	}
	return s.local.main.Compare(ctx, s.cloud.link.Lines(ctx, segment.Transcript, infos, segment.Origin(segment.Transcript), to, nil))
}

// adopt sets the forms in which the transcript was sent.
func (l *local) adopt(ctx context.Context, sent *track.Compared) error {
	main, err := l.main.In(ctx, sent)
	if err == nil {
		l.main, l.st.Main = main, &main.Followed
	}
	return err
}

// adopt sets the forms in which the log was sent.
func (l *ownLog) adopt(ctx context.Context, sent *track.Compared) error {
	h, err := l.In(ctx, sent)
	if err == nil {
		l.Chain, l.own.File = h, &h.Followed
	}
	return err
}

// learnFormer is for a device that knows no base: it looks whether the lines here are a
// former head, or the beginning of one, that was sent in other forms than today's rules
// give. Then the lines get these forms, and count as replaced by other devices.
func (s *work) learnFormer(ctx context.Context) (found bool, err error) {
	former, err := s.cloud.histories(ctx)
	if err != nil {
		return false, err
	}
	for _, h := range former {
		if h.Branch() || h.Stream != segment.Transcript || h.Extent.N < s.local.main.End().N || s.cloud.sameForms(h.Extent) {
			continue
		}
		sent, err := s.compare(ctx, h.Extent.Point())
		if errors.Is(err, remoteread.ErrDamaged) {
			continue
		}
		if err != nil {
			return false, err
		}
		if sent.N == s.local.main.End().N {
			return true, s.local.adopt(ctx, sent)
		}
	}
	return false, nil
}

// sameForms reports whether today's rules give the lines here the forms in which the
// lines of a history were sent: it went through these rules, and the session was not sent
// anew before.
func (c *cloud) sameForms(e head.Extent) bool {
	if c.head.Anew.Rules != "" {
		return false
	}
	return e.Rules == nil && c.redaction() == "" || e.Through(c.redaction())
}
