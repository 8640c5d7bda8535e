package syncer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// # Sessions that were born anew
//
// A head with another Born is of a session that some device sent anew, or of another
// container. No line here is known to be in step with it. The new form of a line here is
// the form that today's rules give to the form in which it was sent, so devices with the
// same rules find the same lines without a request, and text that earlier rules took out
// stays away.
//
// The last common point of both sides remains one where the new history goes through it:
// in its new form where its lines are here, and otherwise as the head's Anew records it
// for the former end of the transcript. So a rewind that waited is sent. In all other
// cases there is no common point, and all lines are compared.

// reborn carries the former state was of the session over to the head that was read, or
// to the head that will be written where there is none. No file here changes.
func (s *work) reborn(ctx context.Context, was *replica.SessionState) error {
	if !s.local.present || s.local.main == nil {
		return nil
	}
	if err := s.rebornMain(ctx, was.Base); err != nil {
		return err
	}
	if err := s.rebornLogs(ctx, was.Head.Head(s.sid)); err != nil {
		return track.Gone(err)
	}
	if err := track.Gone(s.local.scanFiles(ctx)); err != nil {
		return err
	}
	return s.rebornFiles(ctx, was)
}

// rebornMain finds the forms of the transcript's lines, which were sent up to base, and
// the last point that both sides had.
func (s *work) rebornMain(ctx context.Context, base *segment.Point) (err error) {
	old, sent, here := s.local.main, int64(0), false
	if base != nil {
		if here, err = old.Has(ctx, *base); err != nil {
			return err
		}
		sent = min(base.N, old.End().N)
	}
	now, err := old.Todays(ctx, sent)
	if err == nil {
		err = s.local.adopt(ctx, now)
	}
	if err != nil || base == nil {
		return err
	}
	if found, err := s.rebornBase(ctx, *base, here); found || err != nil || !here || s.cloud.head.Transcript.N < base.N {
		return err
	}
	if err := s.learnForms(ctx); err != nil {
		return err
	}
	_, err = s.rebornBase(ctx, *base, here)
	return err
}

// rebornBase sets the last point that both sides had, if the head goes through it. here:
// its lines are here.
func (s *work) rebornBase(ctx context.Context, base segment.Point, here bool) (found bool, err error) {
	t := s.cloud.living()
	switch {
	case here:
		at, ok, err := s.local.main.Mark(ctx, base.N)
		if err != nil || !ok {
			return false, errors.Join(track.ErrMoved, err)
		}
		base = at.Point()
	case t != nil && t.Anew.Was == base:
		base = t.Anew.Now
	}
	if t == nil {
		if here {
			s.st.Base = &base
		}
		return true, nil
	}
	if found, err = s.cloud.goesThrough(ctx, base, t.Transcript.Point()); found {
		s.st.Base = &base
	}
	return found, err
}

// goesThrough reports whether the cloud's transcript, which ends at to, goes through p.
func (c *cloud) goesThrough(ctx context.Context, p, to segment.Point) (bool, error) {
	if p == to || p.N == 0 {
		return true, nil
	}
	if p.N >= to.N {
		return false, nil
	}
	return c.has(ctx, p, to)
}

// rebornLogs finds the forms of the lines of the logs here; the former head records how
// many of them were sent. Where a log continues another device's log that the cloud does
// not have, that log is sent, too.
func (s *work) rebornLogs(ctx context.Context, former *head.Head) (err error) {
	for _, l := range s.local.logs {
		l.own.Large = nil
		if l.own.From != "" && !s.hasLog(l.own.From, l.own.FromPoint.N) {
			err = s.inherit(ctx, l)
		}
		sent := int64(0)
		if former != nil {
			sent = former.Logs[l.Stream].N
		}
		if err == nil {
			err = s.rebornLog(ctx, l, sent)
		}
		if err != nil {
			return err
		}
		s.keepLog(l.kind, l.own)
	}
	return nil
}

// hasLog reports whether the cloud has as many lines of a log, or gets them from here.
func (s *work) hasLog(st segment.Stream, n int64) bool {
	if t := s.cloud.living(); t != nil {
		return t.Logs[st].N >= n
	}
	return s.st.Anew != nil && s.st.Anew.Logs[st].Point.N >= n
}

func (s *work) rebornLog(ctx context.Context, l *ownLog, sent int64) error {
	now, err := l.Todays(ctx, sent)
	if err == nil {
		err = l.adopt(ctx, now)
	}
	if err != nil {
		return err
	}
	t := s.cloud.living()
	if t == nil || t.Logs[l.Stream].N == 0 {
		return nil
	}
	r := t.Logs[l.Stream]
	if has, err := l.Has(ctx, r.Point()); err != nil || has {
		return err
	}
	return s.learnLog(ctx, l, r)
}

// inherit copies the lines of another device's log, with which a log here begins, into
// the bookkeeping, to be sent.
func (s *work) inherit(ctx context.Context, l *ownLog) error {
	st, to := l.own.From, l.own.FromPoint
	size, err := s.States.WriteLog(replica.LogFile(s.sid, st), 0, track.First(to.N, l.RawLines(ctx, 0)))
	if err != nil {
		return err
	}
	in := replica.Anew{}
	if s.st.Anew != nil {
		in = *s.st.Anew
	}
	if in.Logs = maps.Clone(in.Logs); in.Logs == nil {
		in.Logs = map[segment.Stream]replica.CachedLog{}
	}
	in.Logs[st], s.st.Anew = replica.CachedLog{Point: to, Size: size}, &in
	delete(s.st.Cached, st)
	return nil
}

// rebornFiles finds the forms of small files whose last common change the cloud has, or
// will get. A later change here remains a change.
func (s *work) rebornFiles(ctx context.Context, was *replica.SessionState) error {
	t := s.cloud.living()
	for _, f := range s.local.files {
		known := was.Files[f.name]
		if known == nil || !f.there || f.bad || f.large {
			continue
		}
		if t == nil {
			if _, err := s.local.sendAgain(ctx, f, known); err != nil {
				return err
			}
			continue
		}
		theirs, has := t.Files[f.name]
		if !has || theirs.Clock != known.Clock {
			continue
		}
		next, err := s.rebornFile(ctx, f, *known, theirs)
		if err != nil {
			return err
		}
		if s.st.Files == nil {
			s.st.Files = map[string]*replica.KnownFile{}
		}
		if next != nil {
			s.st.Files[f.name] = next
		}
	}
	if t == nil {
		return nil
	}
	return track.Gone(s.local.scanFiles(ctx))
}

// rebornFile returns the known state of a file that is the same change in the cloud,
// perhaps in another form.
func (s *work) rebornFile(ctx context.Context, f *localFile, next replica.KnownFile, theirs head.File) (*replica.KnownFile, error) {
	if theirs.Sum == next.Sum {
		return &next, nil
	}
	same, err := s.local.sendAgain(ctx, f, &next)
	if err != nil {
		return nil, err
	}
	content := f.content
	if !same || f.sum != theirs.Sum {
		if content, err = s.cloud.link.File(ctx, s.sid, theirs); err != nil {
			return nil, err
		}
	}
	next = replica.KnownFile{Sum: theirs.Sum, Clock: theirs.Clock, At: next.At} // it is read again
	if f.name == sessiondir.Metadata {
		next.Base = bytes.Clone(content)
	}
	if !same {
		return &next, nil
	}
	own, err := s.local.raw(ctx, f)
	if err != nil {
		return nil, err
	}
	next.Forms = lineForms(own, content)
	if sum(sentLines(own, next.Forms)) != next.Sum {
		return nil, nil // it is merged, as a change of another device is
	}
	return &next, nil
}

// sendAgain gives a file that did not change since it was sent the form that today's
// rules make of its sent form, as the same change. It reports whether the file had not
// changed.
func (l *local) sendAgain(ctx context.Context, f *localFile, known *replica.KnownFile) (bool, error) {
	own, err := l.raw(ctx, f)
	if err != nil {
		return false, err
	}
	sent := sentLines(own, known.Forms)
	if sum(sent) != known.Sum {
		return false, nil
	}
	f.content = l.leavingFile(f.name, sent)
	f.sum, f.forms, f.clock = sum(f.content), lineForms(own, f.content), known.Clock
	return true, nil
}

// # Logs of other devices in a session that is sent anew
//
// Their lines are in the bookkeeping in the forms in which they were sent. They are
// stored under the names of their streams, in the forms that today's rules give to these
// forms. Their owners continue behind them; see above.

// keepLogs brings into the bookkeeping, whole, all logs that the files here do not hold.
func (v *work) keepLogs(ctx context.Context) (map[segment.Stream]replica.CachedLog, error) {
	kept := map[segment.Stream]replica.CachedLog{}
	for _, st := range slices.Sorted(maps.Keys(v.cloud.head.Logs)) {
		r := v.cloud.head.Logs[st]
		own := v.local.ownLog(st)
		if own != nil {
			if has, err := own.Has(ctx, r.Point()); has || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		} else if !v.cloud.isAdopted(st) {
			if err := v.fetchLog(ctx, st, r); err != nil {
				return nil, err
			}
		}
		held, cached := v.st.Cached[st]
		if !cached || held.From > 0 || held.Point != r.Point() {
			var err error
			if held, err = v.cloud.fetchWhole(ctx, st, r); err != nil {
				return nil, fmt.Errorf("fetch log %s: %w", st, err)
			}
		}
		if kept[st] = held; cached {
			v.st.Cached[st] = held // the file holds all of it now
		}
	}
	return kept, nil
}

// pushKept stores the logs of the bookkeeping, as far as the cloud lacks them.
func (v *work) pushKept(ctx context.Context, next *head.Head, uploads *uploader) (changed bool, err error) {
	in := v.st.Anew
	if in == nil || v.cloud.head != nil && v.cloud.head.Born == in.Born {
		return false, nil
	}
	for _, st := range slices.Sorted(maps.Keys(in.Logs)) {
		held := in.Logs[st]
		to, from, err := v.keptFrom(ctx, next, st, held)
		if err != nil {
			return changed, err
		}
		if from.N == held.Point.N {
			continue
		}
		c := segment.NewCutter(v.cloud.cut(held.Size), segment.From{Stream: to, Mark: from})
		if err := uploads.take(ctx, c.Documents(v.keptLines(ctx, st, held, from.N))); err != nil {
			return changed, err
		}
		next.Logs[to] = head.ExtentOf(c.At().Mark).Ruled(next.RulesOf(to), from.N, v.redaction())
		if own := v.st.Logs[st.Kind().String()]; own != nil && own.From == st && own.FromPoint == held.Point {
			own.FromPoint = next.Logs[to].Point()
		}
		changed = true
	}
	return changed, nil
}

// keptFrom returns the stream to store a log as, and the place from which the cloud lacks
// it: where the lines there differ, the next generation gets the log, unless there are at
// least as many.
func (v *work) keptFrom(ctx context.Context, next *head.Head, st segment.Stream, held replica.CachedLog) (to segment.Stream, from segment.Mark, err error) {
	r := next.Logs[st]
	if r.N >= held.Point.N {
		return st, segment.Mark{N: held.Point.N}, nil
	}
	t := segment.NewTracker(st, nil, []segment.Mark{segment.Begin(st)})
	for line, err := range v.keptLines(ctx, st, held, 0) {
		if t.Mark().N == r.N {
			break
		}
		if err != nil {
			return st, from, err
		}
		t.Add(line, line)
	}
	if t.Mark().Point() == r.Point() || r.N == 0 {
		return st, t.Mark(), nil
	}
	for g := st.Generation(); next.Logs[st].N > 0; g++ {
		st = segment.LogStream(st.Kind(), st.Device(), g)
	}
	return st, segment.Begin(st), nil
}

// keptLines yields the lines of a log in the bookkeeping behind line n, in the form that
// today's rules give to the sent lines.
func (s *session) keptLines(ctx context.Context, st segment.Stream, held replica.CachedLog, n int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := s.States.Open(replica.LogFile(s.sid, st))
		if err != nil {
			yield(nil, err)
			return
		}
		rules, left := track.Source{Redact: s.Privacy.Redact}, held.Point.N
		w, part := track.Window{}, io.NewSectionReader(f, 0, held.Size)
		for offset := int64(0); ; {
			data, _, err := w.Lines(ctx, part, offset)
			if err == nil && len(data) == 0 && left > 0 {
				err = fmt.Errorf("%s: %w", st, io.ErrUnexpectedEOF)
			}
			if len(data) == 0 {
				if err = errors.Join(err, f.Close()); err != nil {
					yield(nil, err)
				}
				return
			}
			for line := range jsonl.Lines(data) {
				left--
				if n--; n < 0 && !yield(rules.Today(line.Bytes), nil) {
					_ = f.Close() // it was only read
					return
				}
			}
			offset += int64(len(data))
		}
	}
}
